"""Where sessions of a scenario are found, locally and on Azure."""
