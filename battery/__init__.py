"""The battery: whether what is promised holds under crashes, lost machines, full disks, overload and guessing."""
