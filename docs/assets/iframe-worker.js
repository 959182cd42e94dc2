// Search without a web server. Browsers start no worker from a file:// page, so run the worker's script in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #frame;

    constructor(url) {
      super();
      this.#frame = new Promise((ready) => {
        const frame = document.body.appendChild(document.createElement("iframe"));
        frame.hidden = true;
        const inside = frame.contentWindow;
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        const script = inside.document.createElement("script");
        script.src = url;
        script.onload = () => ready(inside);
        inside.document.body.append(script);
      });
    }

    async postMessage(data) {
      (await this.#frame).dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}
