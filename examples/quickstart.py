"""A placeholder."""

import netnum

print("netnum", netnum.__version__)
