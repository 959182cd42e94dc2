"""The battery: long tests that check our promises under crashes, lost machines, full disks, overload and guessing."""
