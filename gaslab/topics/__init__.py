"""Topic models: saving, applying, evaluating and showing what `gaslab.lda` found.

`model` and its file, `archive`; `documents` and `foldin`, the topics of new documents; `holdout`, how well
held-out documents are predicted; `estimator`, scikit-learn's interface; `coherence` and `quality`; `report`,
the page that shows them.
"""

from gaslab.topics.coherence import coherence as coherence
from gaslab.topics.quality import diversity as diversity
from gaslab.topics.quality import nearest as nearest
from gaslab.topics.quality import relevance as relevance
from gaslab.topics.quality import top_words as top_words
from gaslab.topics.quality import topic_sizes as topic_sizes
from gaslab.topics.report.write import write_report as write_report
