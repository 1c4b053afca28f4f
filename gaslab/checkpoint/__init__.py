"""Checkpoints: the state of a run on disk, from which any number of ranks can resume it.

Opened in this order the modules explain it: `settings` (what the caller asked for), `places` (how rows travel
into the order of a checkpoint), `pieces` (each rank's file), `manifest`, `folder`, `requests` (when one is
due), `saver`, which writes one while the run goes on, `layout` (what a run can go on from) and `loader`.
"""
