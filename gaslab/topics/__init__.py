"""What is made of learned topics: what they are judged by, and the page that shows them."""

from gaslab.topics.coherence import coherence as coherence
from gaslab.topics.quality import diversity as diversity
from gaslab.topics.quality import nearest as nearest
from gaslab.topics.quality import relevance as relevance
from gaslab.topics.quality import top_words as top_words
from gaslab.topics.quality import topic_sizes as topic_sizes
from gaslab.topics.report.write import write_report as write_report
