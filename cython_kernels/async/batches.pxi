# Batches of records for other ranks, one per peer.

ctypedef struct Record:
    uint32_t position
    uint32_t kind

ctypedef struct Buffer:
    char *data
    size_t length, capacity


cdef inline size_t _padded(size_t size) noexcept nogil:
    return (size + 7) & ~<size_t> 7


cdef class Batches:
    """Buffers of records to be sent, one for each of *size* ranks."""

    cdef int size
    cdef readonly int64_t records  # so far
    cdef Buffer *buffers

    def __cinit__(self, int size):
        self.size = size
        self.buffers = <Buffer *> calloc(max(size, 1), sizeof(Buffer))
        if self.buffers is NULL:
            raise MemoryError

    def __dealloc__(self):
        cdef int p
        if self.buffers is not NULL:
            for p in range(self.size):
                free(self.buffers[p].data)
            free(self.buffers)

    cdef char *put(self, int peer, uint32_t position, uint32_t kind, size_t size) noexcept nogil:
        """Append a record for *peer*; return where its *size* bytes (a multiple of eight) go."""
        cdef Buffer *b = &self.buffers[peer]
        cdef size_t whole = sizeof(Record) + size
        cdef char *at
        if b.length + whole > b.capacity:
            b.capacity = 2 * b.capacity + whole + 4096
            b.data = <char *> realloc(b.data, b.capacity)
            if b.data is NULL:
                abort()  # there is no memory for an error
        at = b.data + b.length
        b.length += whole
        self.records += 1
        (<Record *> at).position = position
        (<Record *> at).kind = kind
        return at + sizeof(Record)

    def pending(self, int peer):
        """Return how many bytes are to be sent to *peer*."""
        return self.buffers[peer].length

    def take(self, int peer):
        """Return the records for *peer*, as uint8, and empty its buffer."""
        cdef Buffer *b = &self.buffers[peer]
        data = np.empty(b.length, np.uint8)
        if b.length:
            memcpy(PyArray_DATA(<ndarray> data), b.data, b.length)
        b.length = 0
        return data
