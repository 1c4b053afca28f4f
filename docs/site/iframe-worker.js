/* Search runs in a worker, which browsers refuse to pages that are opened as files. There an iframe of its own takes
   the worker's place: it runs the same script, and both sides exchange the same messages. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      inside.document.open();
      inside.document.write(
        "<script>postMessage = (data) => parent.dispatchEvent(new MessageEvent('worker', {data}));" +
          "importScripts = (...urls) => urls.reduce((done, url) => done.then(() => new Promise((resolve, reject) => {" +
          "const s = document.createElement('script'); s.src = url; s.onload = resolve; s.onerror = reject;" +
          "document.head.appendChild(s); })), Promise.resolve());<\/script>" +
          `<script src="${url}"><\/script>`
      );
      inside.document.close();
      addEventListener("worker", (event) => {
        const message = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(message);
        if (this.onmessage) this.onmessage(message);
      });
    }
    postMessage(data) {
      const send = () => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
      if (this.frame.contentDocument.readyState === "complete") send();
      else this.frame.addEventListener("load", send, { once: true });
    }
    terminate() {
      this.frame.remove();
    }
  };
}
