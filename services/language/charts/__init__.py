"""The words by which things of a chart are asked for and told."""
