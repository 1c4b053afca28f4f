"""``gaslab lda`` with models: --save, --load --transform, --model, --held-out, the same on any ranks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import gaslab as gl
from tests.support.command_line import Run, gaslab, on_ranks
from tests.support.corpora import written

__all__ = ["gaslab"]

TEXT = "".join(
    f"{'cat dog bird' if k % 2 else 'bond bank stock'} {'cat' if k % 3 else 'bond'}\n" for k in range(40)
)
ONE_CHAIN = ("--sampler", "metropolis-hastings")  # on any ranks
FEW = ("--topics", 5, "--iterations", 3, "--seed", 2, "--threads", 1, *ONE_CHAIN)


@pytest.mark.slow
def test_a_model_is_saved_and_gives_its_topics_to_documents(gaslab: Run, tmp_path: Path) -> None:
    corpus, path = written(tmp_path, TEXT), tmp_path / "model.npz"
    new = written(tmp_path, "cat dog new\nbond\n", "new.txt")
    done = gaslab("lda", corpus, *FEW, "--save", path, "--json", tmp_path / "run.json")
    assert (done.code, f"wrote {path} (the model)" in done.err) == (0, True)
    assert "save" not in json.loads((tmp_path / "run.json").read_text())["parameters"]
    model = gl.TopicModel.load(path)
    assert (model.num_topics, model.iterations, model.tokens, model.seed) == (5, 3, 160, 2)
    assert gaslab("lda", corpus, *FEW, "--save", path).err.endswith("model.npz exists; --force replaces it\n")
    with pytest.warns(UserWarning, match="1 words of the corpus are not in the model"):
        expected = model.transform(gl.read_corpus(new))["probability"]
    for rank, option in enumerate(("-o", "--document-topic"), 1):
        words = ("lda", "--load", path, "--transform", new, option, tmp_path / f"{rank}.tsv")
        done = on_ranks(rank, *words) if rank > 1 else gaslab(*words)
        assert (done.code, done.err.count("1 words of the corpus are not in the model")) == (0, 1)
        assert np.array_equal(np.loadtxt(tmp_path / f"{rank}.tsv")[:, 1:], expected)
    shown = gaslab("lda", "--load", path, "--transform", new, "--top", 1, "--json", tmp_path / "new.json").out
    assert shown.startswith(f"1  topic {expected[0].argmax()} {expected[0].max():.1%}, topic")
    assert len(shown.splitlines()) == 1
    assert json.loads((tmp_path / "new.json").read_text())["documents"] == 2


@pytest.mark.slow
def test_a_chain_goes_on_from_a_model(gaslab: Run, tmp_path: Path) -> None:
    corpus, path = written(tmp_path, TEXT), tmp_path / "model.npz"
    priors = ("--doc-topic-prior", 0.25, "--topic-word-prior", 0.5)
    assert gaslab("lda", corpus, *FEW, *priors, "--save", path).code == 0
    words = ("lda", corpus, "--model", path, "--iterations", 2, "--threads", 1, *ONE_CHAIN, "--save")
    for size in (1, 2):
        done = on_ranks(size, *words, tmp_path / f"{size}.npz")
        assert done.code == 0, done.err
    alone, both = (gl.TopicModel.load(tmp_path / f"{size}.npz") for size in (1, 2))
    assert np.array_equal(alone.counts, both.counts)
    assert (alone.iterations, alone.topic_word_prior, alone.doc_topic_prior[0]) == (5, 0.5, 0.25)
    done = gaslab(*words, path, "--force")
    assert (done.code, "is read too; write to another file" in done.err) == (2, True)
    done = gaslab(*words, tmp_path / "more.npz", "--topics", 4)
    assert (done.code, "--topics 4: the model has 5" in done.err) == (2, True)


@pytest.mark.slow
def test_held_out_documents_are_scored(gaslab: Run, tmp_path: Path) -> None:
    corpus, report = written(tmp_path, TEXT), tmp_path / "run.json"
    found = []
    for size in (1, 3):
        done = on_ranks(size, "lda", corpus, *FEW, "--held-out", 0.25, "--json", report, "--force",
                        "--document-topic", tmp_path / "mixes.tsv")  # fmt: skip
        assert done.code == 0, done.err
        said = json.loads(report.read_text())
        found.append(said["held_out_log_likelihood_per_token"])
        assert said["input"] == str(corpus)  # of which the run saw a part
        assert said["seconds"]["load"] > 0
        assert len((tmp_path / "mixes.tsv").read_text().splitlines()) == 30
    assert found[0] == found[1]
    assert -2.5 < found[0] < -1
    done = gaslab("lda", corpus, *FEW, "--held-out", 0.25)
    assert f"held_out_log_likelihood_per_token: {found[0]:.6g}" in done.out


def test_a_resumed_model_may_know_what_is_kept_apart(gaslab: Run, tmp_path: Path) -> None:
    corpus, path = written(tmp_path, TEXT), tmp_path / "m.npz"
    gaslab("lda", corpus, *FEW, "--save", path)
    for words, warned in ((("--model", path), False), (("--model", path, "--held-out", 0.25), True)):
        done = gaslab("lda", corpus, *words, "--iterations", 2)
        assert done.code == 0, done.err
        assert (f"{path} may have learnt from documents that --held-out keeps apart" in done.err) == warned


def test_options_that_do_not_go_together(gaslab: Run, tmp_path: Path) -> None:
    corpus = written(tmp_path, TEXT)
    bad = written(tmp_path, "no model", "bad.npz")
    for words, code, said in (
        ((), 2, "missing: CORPUS"),
        ((corpus, "--transform", corpus), 2, "--transform needs the model: --load MODEL"),
        (("--load", bad), 2, "--load needs the documents: --transform NEW"),
        ((corpus, "--load", bad, "--transform", corpus), 2, "leave"),
        (("--load", bad, "--transform", corpus, "--topics", 3), 2, "--topics applies only"),
        (("--load", bad, "--transform", corpus, "--iterations", 3), 2, "--iterations applies only"),
        (("--load", bad, "--transform", corpus, "--doc-topic-prior", 50), 2, "-prior applies only"),
        (("--load", bad, "--transform", corpus, "--mh-steps", 2), 2, "--mh-steps applies only"),
        (("--load", bad, "--transform", corpus, "--precision", "float32"), 2, "--precision applies only"),
        ((bad, "--topics", "2,3", "--doc-topic-prior", "1,2"), 2, "--topics compares several numbers"),
        ((bad, "--model", bad, "--topics", "2,3"), 2, "--model goes on with the topics of a model"),
        (("--load", bad, "--transform", corpus), 1, "not a topic model: it is not a complete .npz archive"),
        ((corpus, "--model", tmp_path / "none.npz"), 1, "none.npz: there is no such model"),
        (("--load", "none", "--transform", corpus), 1, "none: there is no such model; gaslab lda CORPUS"),
        ((corpus, "--model", bad), 1, f"{bad} is not a topic model"),
        ((corpus, "--save", tmp_path / "no" / "m.npz"), 2, "there is no directory"),
    ):  # fmt: skip
        done = gaslab("lda", *words)
        assert (done.code, said in done.err) == (code, True), done.err


def test_what_no_corpus_can_have_is_refused_before_it_is_read(gaslab: Run, tmp_path: Path) -> None:
    needed = "a whole number from"
    for options, said in (
        (("--topics", "2,70000"), f"--topics 70000: {needed} 1 to 65536 is needed"),
        (("--iterations", 0), "--iterations 0: a whole number of at least 1 is needed"),
        (("--mh-steps", 65), f"--mh-steps 65: {needed} 1 to 64 is needed"),
        (("--doc-topic-prior", 0), "--doc-topic-prior 0.0: a number from 1e-100 to 1000000000.0 is needed"),
        (("--doc-topic-prior", "1,0", "--topics", 2), "--doc-topic-prior 0.0: a number from"),
        (("--doc-topic-prior", "1,1"), "--doc-topic-prior [1.0, 1.0]: 20 numbers are needed"),
        (("--topic-word-prior", "1e10"), "--topic-word-prior 10000000000.0: a number from"),
        (("--iterations", 5, "--burn-in", 5), f"--burn-in 5: {needed} 0 to 4 is needed"),
        (("--burn-in", 200), f"--burn-in 200: {needed} 0 to 199 is needed"),
        (("--optimise-priors", 9, "--iterations", 5), f"--optimise-priors 9: {needed} 0 to 5 is needed"),
        (("--sample-every", 2), "--sample-every 2: without --burn-in N no sweeps are averaged; add it"),
        (("--sampler", "gibbs", "--mh-steps", 2), "--mh-steps 2 is for --sampler 'metropolis-hastings'"),
        (("--mh-steps", 2, "--precision", "float32"), "say --sampler 'gibbs', or leave --precision out"),
        *((("--save", name), f"--save {name!r}: a model is written as an .npz archive; give it")
          for name in ("model.safetensors", "model.txt", "model", "-")),
        (("--held-out", 1), "--held-out 1.0: a number above 0 and below 1 is needed"),
    ):  # fmt: skip
        done = gaslab("lda", tmp_path / "none.txt", *options)
        assert (done.code, said in done.err) == (2, True), done.err
