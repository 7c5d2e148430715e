"""The parts of the product that cases of their own form play, without server and model."""
