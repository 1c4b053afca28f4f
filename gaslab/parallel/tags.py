"""The tags of messages between ranks: one per purpose, so that none receives another's."""

from __future__ import annotations

from enum import IntEnum, unique


@unique
class Tag(IntEnum):
    """The purpose of a message; messages with one tag arrive in the order sent."""

    PLAIN = 1  # of `Comm.begin` by default
    ALLTOALL = 2
    GATHER = 3
    TABLE_TEXT = 9  # of an answer's file, to rank 0
    TABLE_FILE = 10  # of the files of a cut, to rank 0
    SPREAD = 11  # masters' fields to mirrors
    COLLECT = 12  # mirrors' signals and messages to masters
    PARTIALS = 13  # mirrors' partial totals to masters
    SIGNALS_BY_ID = 14
    CHANGES = 15  # of additive fields, to masters
    MOVED_VERTICES = 16  # of visit, with the right to write them
    PLACED_VERTICES = 17  # of visit, between masters and places
    SMALL_SPREAD = 18  # as SPREAD and COLLECT, in small supersteps
    SMALL_COLLECT = 19
    BATCH = 31  # without supersteps
    CLOCK = 41  # of rank 0, for a timeline
    NOTICE = 42  # of a rank that waits for others, has ended or has failed
