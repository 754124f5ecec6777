"""slaverify verifies the accuracy SLA of an AI vendor."""
