"""What-if studies: a network with some links failed or larger, case by case, beside the network as it is."""
