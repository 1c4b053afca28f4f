"""The functions for type checkers, by `make index`; nothing loads it."""

from gaslab.programs.als import als as als
from gaslab.programs.betweenness import betweenness as betweenness
from gaslab.programs.bfs import bfs as bfs
from gaslab.programs.cdlp import cdlp as cdlp
from gaslab.programs.closeness import closeness as closeness
from gaslab.programs.closeness import harmonic as harmonic
from gaslab.programs.clustering import clustering as clustering
from gaslab.programs.clustering import transitivity as transitivity
from gaslab.programs.coloring import coloring as coloring
from gaslab.programs.components import components as components
from gaslab.programs.degrees import degrees as degrees
from gaslab.programs.diameter import diameter as diameter
from gaslab.programs.distances import distances as distances
from gaslab.programs.eigenvector import eigenvector as eigenvector
from gaslab.programs.hits import hits as hits
from gaslab.programs.jacobi import jacobi as jacobi
from gaslab.programs.katz import katz as katz
from gaslab.programs.kcore import kcore as kcore
from gaslab.programs.lbp import lbp as lbp
from gaslab.programs.lda import lda as lda
from gaslab.programs.mis import mis as mis
from gaslab.programs.pagerank import pagerank as pagerank
from gaslab.programs.sgd import sgd as sgd
from gaslab.programs.sssp import sssp as sssp
from gaslab.programs.strong_components import strong_components as strong_components
from gaslab.programs.triangles import triangles as triangles
