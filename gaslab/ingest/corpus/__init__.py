"""Corpora: how often each word is in each document, as edges from documents to words."""
