"""What is shown: plots, pandas frames, tables of notebooks, progress bars."""
