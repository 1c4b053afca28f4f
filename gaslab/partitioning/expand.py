"""x"""
import numpy as np
import gaslab._kernels.expand as kernels
import gaslab._kernels.hdrf as hdrf

def rows(end, n):
    b=np.zeros(n+1,np.int64); np.cumsum(np.bincount(end,minlength=n),out=b[1:]); return b

def expand(low, high, multiplicity, num_vertices, k, *, cap, tau=np.inf, places=None, mode=0):
    n=num_vertices; m=low.size
    begin,back=rows(low,n),rows(high,n)
    rest=(np.diff(begin)+np.diff(back)).astype(np.int32)
    degree=rest.astype(np.int64)
    mean=2*m/max(np.count_nonzero(rest),1)
    widest=int(np.searchsorted(rest,tau*mean,side="right")) if np.isfinite(tau) else n
    hub=widest
    if mode==1: widest=n
    back[widest:]=back[widest]
    pairs=np.empty(back[-1],np.int32); first,last=begin[:-1].copy(),np.empty(n,np.int64); last[:]=back[1:]
    kernels.list_rows(high,back,widest,last,pairs)
    part=np.full(m,-1,np.int32)
    lists=np.full((4,max(n,int(rest.max())+1)),-1,np.int32); lists[3]=np.arange(lists.shape[1])
    total=int(multiplicity.sum()); seed=0
    for p in range(k):
        want=-(-total//(k-p))
        seed,room,_=kernels.grow(low,high,multiplicity,begin,back,first,last,pairs,part,rest,lists,widest,p,want,places or n+1,seed,hub,mode)
        total-=want-room
    return part
