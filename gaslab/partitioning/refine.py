"""x"""
import numpy as np
import gaslab._kernels.expand as expand
import gaslab._kernels.refine as kernels
from gaslab.partitioning.expand import rows

class Cut:
    def __init__(s, low, high, multiplicity, num_vertices, part, k, cap):
        n=num_vertices
        s.low,s.high,s.mult,s.n,s.part,s.k,s.cap=low,high,multiplicity,n,np.array(part,np.int32),k,cap
        s.begin,s.back=rows(low,n),rows(high,n)
        deg=np.diff(s.begin)+np.diff(s.back)
        s.pairs=np.empty(low.size,np.int32)
        expand.list_rows(high,s.back,n,np.empty(n,np.int64),s.pairs)
        s.slot=np.zeros(n+1,np.int64); np.cumsum(np.minimum(deg,k),out=s.slot[1:])
        s.rows=np.empty((2,int(s.slot[-1])),np.int32)
        s.used=np.zeros(n,np.int32)
        s.held=np.zeros((n,-(-k//64)),np.uint64)
        s.load=np.zeros(k,np.int64); s.size=np.zeros(k,np.int64)
        s.total=kernels.count(low,high,multiplicity,s.part,s.held,s.slot,s.used,s.rows,s.load,s.size)
        s.room=np.empty((3,max(int(deg.max()),k)),np.int32); s.where=np.empty(k+1,np.int64)
    def sweep(s, vb, widest=64, foreign=64, debt=0):
        s.total,moves=kernels.sweep(s.low,s.high,s.mult,s.begin,s.back,s.pairs,s.part,s.held,s.slot,s.used,s.rows,s.load,s.size,s.cap,vb,s.total,widest,foreign,debt,s.room,s.where)
        return moves
    def shift(s, vb, worth, by_load=0., by_size=0., everywhere=False):
        s.total,moves=kernels.shift(s.low,s.high,s.mult,s.part,s.held,s.slot,s.used,s.rows,s.load,s.size,s.cap,vb,s.total,worth,by_load,by_size,everywhere)
        return moves
