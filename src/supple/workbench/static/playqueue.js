// Requests of the playground, one after the other.

// A job that waits is replaced by a later one of the same key: of a movement of the hand only the
// latest place counts.
export class Queue {
  constructor(post, done, failed) {
    Object.assign(this, { post, done, failed, waiting: [], work: null, running: false, closed: false });
  }

  get idle() { return this.waiting.length === 0; }

  has(key) { return this.waiting.some((job) => job.key === key); }

  push(action, stamp, key = null) {
    const last = this.waiting.at(-1);
    if (key !== null && last?.key === key) last.action = action;
    else this.waiting.push({ action, stamp, key });
    if (!this.running) this.work = this.run();
  }

  close() {
    this.closed = true;
    this.waiting = [];
  }

  async run() {
    this.running = true;
    while (this.waiting.length) {
      const job = this.waiting.shift();
      try {
        const answer = await this.post(job.action);
        if (!this.closed) this.done(answer, job);
      } catch (error) {
        this.waiting = []; // what follows was meant for a canvas that is not there
        if (!this.closed) this.failed(error);
      }
    }
    this.running = false;
  }
}

// Load a style sheet once, and wait for it.
export function useStyle(address) {
  if (document.querySelector(`link[href="${address}"]`)) return Promise.resolve();
  return new Promise((resolve) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = address;
    link.onload = link.onerror = resolve;
    document.head.append(link);
  });
}
