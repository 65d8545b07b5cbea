"""Two products that memrot does not know, and their adapters."""
