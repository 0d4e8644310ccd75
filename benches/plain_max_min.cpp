// Weighted max-min rates by progressive filling, as a textbook has it: the baseline of limits.py.
//
//     c++ -O3 -march=native -shared -fPIC -o plain_max_min.so plain_max_min.cpp

#include <cstdint>
#include <limits>
#include <vector>

// The links of flow f are links[starts[f]] to links[starts[f + 1] - 1].
extern "C" void plain_max_min(int64_t n_links, int64_t n_flows, const double* capacities, const int64_t* starts,
                              const int32_t* links, const double* weights, double* rates) {
  std::vector<double> left(capacities, capacities + n_links), weight(n_links, 0.0);
  std::vector<int32_t> rising(n_links, 0);
  for (int64_t flow = 0; flow < n_flows; flow++) {
    for (int64_t i = starts[flow]; i < starts[flow + 1]; i++) {
      weight[links[i]] += weights[flow];
      rising[links[i]]++;
    }
  }
  // The flows through every link.
  std::vector<int64_t> first(n_links + 1, 0);
  for (int64_t link = 0; link < n_links; link++) first[link + 1] = first[link] + rising[link];
  std::vector<int64_t> next(first.begin(), first.end() - 1);
  std::vector<int32_t> through(first[n_links]);
  for (int64_t flow = 0; flow < n_flows; flow++) {
    for (int64_t i = starts[flow]; i < starts[flow + 1]; i++) through[next[links[i]]++] = flow;
  }
  std::vector<char> stopped(n_flows, 0);
  for (int64_t flows = n_flows; flows > 0;) {
    double level = std::numeric_limits<double>::infinity();
    int64_t full = 0;
    for (int64_t link = 0; link < n_links; link++) {
      if (rising[link] > 0 && left[link] / weight[link] < level) {
        level = left[link] / weight[link];
        full = link;
      }
    }
    for (int64_t j = first[full]; j < first[full + 1]; j++) {
      int32_t flow = through[j];
      if (stopped[flow]) continue;
      stopped[flow] = 1;
      flows--;
      rates[flow] = weights[flow] * level;
      for (int64_t i = starts[flow]; i < starts[flow + 1]; i++) {
        left[links[i]] -= rates[flow];
        weight[links[i]] -= weights[flow];
        rising[links[i]]--;
      }
    }
  }
}
