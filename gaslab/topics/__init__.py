"""Topic models: what is kept of a run of `gaslab.lda`, and what is done with it.

`model` and its file, `archive`; `documents` and `foldin`, the topics of new documents; `holdout`, how well
documents that were kept apart are predicted; `estimator`, scikit-learn's interface.
"""
