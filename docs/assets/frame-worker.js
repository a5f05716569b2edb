// SPDX-License-Identifier: Apache-2.0
// The search runs in a worker, which browsers do not start in a page that is opened from disk.
// There an invisible frame takes the worker's place.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.load = (script) =>
        new Promise((resolve, reject) => {
          const element = inside.document.createElement("script");
          element.src = script;
          element.onload = resolve;
          element.onerror = reject;
          inside.document.body.append(element);
        });
      inside.importScripts = (...scripts) => Promise.all(scripts.map(this.load));
      this.frame = frame;
      this.started = this.load(address);
    }
    postMessage(data) {
      this.started.then(() => {
        this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
      });
    }
    terminate() {
      this.frame.remove();
    }
  };
}
