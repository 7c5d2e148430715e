"""Tests of the team; the kernel is imported as a server imports it, in half the time."""

from group_chat.late_start import import_kernel

import_kernel()
