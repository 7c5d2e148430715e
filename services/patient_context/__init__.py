"""Which patient a message is about. Plain values in, plain values out; writes nothing."""
