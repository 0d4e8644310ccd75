import numpy as np
import pytest

import netnum


@pytest.fixture
def problem():
    """The first two flows share link 0, the second may also take link 1, the third has nothing but link 1."""
    return netnum.Problem([2.0, 3.0], [[0], [0], [1], [1]], netnum.AlphaFair(1.0), group=[0, 1, 1, 2])


def test_a_failure_is_compared_on_the_flows_that_both_networks_serve(problem):
    study = netnum.failure_study(problem, [0, 1, (0, 1)], tol=1e-9)
    assert [flows.tolist() for flows in study.cut_off] == [[0], [2], [0, 1, 2]]
    assert study.common_flows.tolist() == []
    # Without link 0 flows 1 and 2 share link 1: 1.5 each, and 5/3 each before.
    assert study.after[0] == pytest.approx(2 * np.log(1.5), abs=1e-6)
    assert study.before[0] == pytest.approx(2 * np.log(5 / 3), abs=1e-6)
    assert study.after[1] == pytest.approx(0.0, abs=1e-6)
    assert (study.before[2], study.after[2]) == (0.0, 0.0)
    assert study.throughput == pytest.approx([3.0, 2.0, 0.0], abs=1e-5)
    assert study.status == ["optimal"] * 3
    assert repr(study) == "FailureStudy(3 scenarios, 3 optimal, up to 3 flows cut off)"


def test_an_objective_may_rise_by_a_failure_and_the_study_does_not():
    # Each of two slow flows costs log utility; the objective without them is higher.
    problem = netnum.Problem([0.01, 1.0], [[0], [0], [1]], netnum.AlphaFair(1.0))
    before = netnum.solve(problem)
    after = netnum.solve(problem.with_capacities([0.0, 1.0]))
    assert after.objective > before.objective
    assert after.failed_flows.tolist() == [0, 1]
    assert problem.values(before.flow_rates).sum() == pytest.approx(before.objective)
    study = netnum.failure_study(problem, [0])
    assert study.after[0] == pytest.approx(study.before[0], abs=1e-6)


def test_the_study_is_a_table(problem):
    frame = netnum.failure_study(problem, [0, 1]).to_pandas()
    assert list(frame["cut_off"]) == [1, 1]
    assert (frame["change"] <= 1e-6).all()
    assert list(frame["links"]) == [(0,), (1,)]


def test_max_min_is_compared_by_the_smallest_fair_share():
    problem = netnum.Problem([2.0, 3.0], [[0], [0], [1], [1]], netnum.AlphaFair(np.inf), group=[0, 1, 1, 2])
    study = netnum.failure_study(problem, [0])
    assert study.after[0] == pytest.approx(1.5)


def test_a_link_that_does_not_exist_is_named_with_its_scenario(problem):
    with pytest.raises(netnum.NumError, match="scenario 1 names link 7, and there are 2 links"):
        netnum.failure_study(problem, [0, (1, 7)])


def test_other_capacities_are_checked(problem):
    with pytest.raises(netnum.ProblemError, match="capacities has 1 entries, expected 2, one per link"):
        problem.with_capacities([1.0])
    with pytest.raises(netnum.ProblemError, match="link 1 has capacity -1"):
        problem.with_capacities([1.0, -1.0])
    with pytest.raises(netnum.ProblemError, match="flow_rates has 2 entries, expected 3, one per flow"):
        problem.values([1.0, 2.0])


def test_a_link_is_an_integer_and_an_answer_is_needed(problem):
    with pytest.raises(TypeError):
        netnum.failure_study(problem, [0.7])


def test_a_study_without_time_says_so():
    flows = 300_000
    ends = np.random.default_rng(1).integers([0, 500], [500, 1000], (flows, 2))
    problem = netnum.Problem(np.ones(1000), netnum.Paths(np.arange(flows + 1) * 2, ends.ravel()), netnum.AlphaFair(1.0))
    try:
        study = netnum.failure_study(problem, [0], time_limit=1e-9)
    except netnum.NumError as error:
        assert "the time was up before there was an answer to the network as it is" in str(error)
    else:
        assert study.solutions[0].method != "none"
