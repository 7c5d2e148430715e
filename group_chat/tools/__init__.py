"""The tools that agents may be given in `team.yaml`, and the kernel that runs them."""
