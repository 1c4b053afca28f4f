"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const topics = new Map(data.topics.map((topic) => [topic.name, topic]));
  const COLOURS = 6, BARS = topics.size > 100 ? 15 : 30;
  let shown = null, picked = null;

  const make = (name, text, of = {}) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    for (const [key, value] of Object.entries(of)) element.setAttribute(key, value);
    return element;
  };
  const word = (k) => make("bdi", data.words[k]);
  const percent = (share) => (share >= 0.0995 ? (100 * share).toFixed(0) : (100 * share).toPrecision(2)) + "%";
  const figure = (value) => value.toFixed(2).replace("-", "−");
  const many = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
  const first = (name, count) =>
    topics.has(name) ? topics.get(name).words.slice(0, count).map(([w]) => data.words[w]).join(", ") : "";

  function drawTopic() {
    const topic = topics.get(shown), weight = Number(at("weight").value);
    at("topic-title").textContent = `Topic ${topic.name}`;
    at("topic-note").textContent = `${percent(topic.size)} of all tokens` +
      (topic.coherence === null ? "" : `, coherence ${figure(topic.coherence)}`);
    at("weight-said").value = weight === 1 ? "by probability" : `by relevance, λ = ${weight.toFixed(1)}`;
    const score = ([, p, all]) => (p > 0 ? Math.log(p) - (1 - weight) * Math.log(all) : -Infinity);
    const rows = topic.words.map((row) => [score(row), row]).sort((a, b) => b[0] - a[0]).slice(0, BARS);
    const most = Math.max(...rows.map(([, row]) => row[1]));
    at("bars").replaceChildren(...rows.map(([, [w, p, all]]) => {
      const row = make("li"), name = word(w), track = make("div"), bar = make("i");
      name.title = data.words[w];
      bar.style.width = `${(100 * p) / most}%`;
      track.append(bar);
      row.append(name, track, make("span", percent(p)), make("span", percent(Math.min(1, p * topic.size / all))));
      return row;
    }));
    at("near").replaceChildren(...topic.near.map(([name, distance]) =>
      link(`${name}`, () => choose(name), ` ${figure(distance)} — ${first(name, 4)}`)));
    at("of-topic").replaceChildren(...topic.documents.map(([k, share]) =>
      link(data.documents[k].name, () => { at("document").value = k; drawDocument(); at("document").focus(); },
        ` ${percent(share)}`)));
    for (const list of ["near", "of-topic"])
      if (!at(list).children.length) at(list).append(make("li", "none"));
    for (const circle of document.querySelectorAll(".map g"))
      circle.classList.toggle("chosen", circle.dataset.topic === String(shown));
  }

  function link(text, act, after) {
    const row = make("li"), button = make("button", undefined, {type: "button"});
    button.append(make("bdi", text));
    button.addEventListener("click", act);
    row.append(button, make("bdi", after));
    return row;
  }

  function choose(name, focus = false) {
    const input = document.querySelector(`.list input[value="${name}"]`);
    if (!input) return;
    shown = name;
    input.checked = true;
    const row = input.closest("li"), list = row.parentElement;
    row.hidden = false;
    if (row.offsetTop < list.scrollTop || row.offsetTop + row.offsetHeight > list.scrollTop + list.clientHeight)
      list.scrollTop = row.offsetTop - list.clientHeight / 3;
    if (focus) input.focus({preventScroll: true});
    drawTopic();
  }

  function drawDocument() {
    const chosen = data.documents[Number(at("document").value)];
    const colour = new Map(chosen.mixture.slice(0, COLOURS).map(([name], k) => [name, `var(--c${k})`]));
    const tint = (name) => colour.get(name) || "var(--other)";
    at("document-title").textContent = `Document ${chosen.name}`;
    const less = chosen.distinct - chosen.words.length;
    at("document-note").textContent = chosen.tokens === 0 ? "The document has no words: all topics are alike in it."
      : `${many(chosen.tokens, "token")} of ${many(chosen.distinct, "word")}` +
        (less ? `; the ${chosen.words.length} most frequent are shown` : "") +
        ". The colour and the small number of a word are its likeliest topic; the order in the text is not known.";
    const rest = 1 - chosen.mixture.reduce((sum, [, share]) => sum + share, 0);
    at("mixture").replaceChildren(...chosen.mixture.map(([name, share]) => {
      const part = make("i", share > 0.04 ? name : "", {title: `topic ${name}: ${percent(share)}`});
      part.style.setProperty("--tint", tint(name));
      part.style.flex = `${share} 0 0`;
      return part;
    }));
    if (rest > 0.005) {
      const part = make("i", "", {title: `other topics: ${percent(rest)}`});
      part.style.cssText = `--tint: var(--line); flex: ${rest} 0 0`;
      at("mixture").append(part);
    }
    at("mixture").setAttribute("aria-label", "Topics of the document: " +
      chosen.mixture.map(([name, share]) => `topic ${name} ${percent(share)}`).join(", "));
    at("legend").replaceChildren(...chosen.mixture.map(([name, share]) => {
      const row = make("li"), button = make("button", undefined, {type: "button", "aria-pressed": picked === name});
      button.append(`topic ${name}, ${percent(share)} `, make("bdi", first(name, 3), {class: "note"}));
      button.style.setProperty("--tint", tint(name));
      button.addEventListener("click", () => { picked = picked === name ? null : name; drawDocument(); focusOn(name); });
      button.dataset.topic = name;
      row.append(button);
      return row;
    }));
    const place = new Map(chosen.mixture.map(([name], k) => [name, k]));
    const rank = (row) => place.get(row[2]) ?? 1e9 + row[2];
    const rows = at("together").checked ? [...chosen.words].sort((a, b) => rank(a) - rank(b)) : chosen.words;
    at("text").replaceChildren(...rows.map(([w, count, name]) => {
      const chip = make("li", undefined, {title: `topic ${name}: ${first(name, 5)}`});
      chip.style.setProperty("--tint", tint(name));
      if (picked !== null && picked !== name) chip.className = "dim";
      chip.append(word(w));
      if (count > 1) chip.append(make("b", `×${count}`));
      chip.append(make("sub", name));
      return chip;
    }));
  }

  function focusOn(name) {
    const button = document.querySelector(`#legend button[data-topic="${name}"]`);
    if (button) button.focus();
  }

  function find() {
    const text = at("find").value.trim().toLowerCase();
    let count = 0;
    for (const input of document.querySelectorAll(".list input[name=topic]")) {
      const topic = topics.get(Number(input.value));
      const has = !text || topic.words.some(([w]) => data.words[w].toLowerCase().includes(text));
      input.closest("li").hidden = !has;
      count += has;
    }
    at("found").textContent = text ? many(count, "topic") : "";
  }

  document.documentElement.classList.add("js");
  document.querySelector(".list").addEventListener("change", (event) => {
    if (event.target.name === "topic") choose(Number(event.target.value));
  });
  for (const circle of document.querySelectorAll(".map g"))
    circle.addEventListener("click", () => choose(Number(circle.dataset.topic), true));
  at("weight").addEventListener("input", drawTopic);
  at("find").addEventListener("input", find);
  at("together").addEventListener("change", drawDocument);
  at("document").append(...data.documents.map((one, k) => make("option", one.name, {value: k})));
  at("document").addEventListener("change", () => { picked = null; drawDocument(); });
  at("weight").value = 1;
  choose(data.topics[0].name);
  if (data.documents.length) {
    const telling = data.documents.findIndex((one) => one.mixture.length > 1 && one.tokens > 20);
    at("document").value = Math.max(telling, 0);
    drawDocument();
  } else document.querySelector(".document").remove();
})();
