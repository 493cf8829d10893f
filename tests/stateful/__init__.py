"""The stores against a plain model in memory, under random acts and faults."""
