export type Fetch = typeof globalThis.fetch;

/** Fails the body of a response when no byte arrives for `silenceMs`. A comment in an event stream counts as a sign of life. */
export function withSilenceLimit(send: Fetch, silenceMs: number): Fetch {
  return async (input, init) => {
    const response = await send(input, init);
    // A fetch of the caller's own may give a body of another kind.
    if (!(response.body instanceof ReadableStream)) return response;
    return new Response(response.body.pipeThrough(silenceTimer(silenceMs)), response);
  };
}

function silenceTimer(silenceMs: number): TransformStream<Uint8Array, Uint8Array> {
  let timer: NodeJS.Timeout | undefined;
  return new TransformStream({
    start(controller) {
      const fail = () => controller.error(new Error(`The model sent nothing for ${silenceMs} ms`));
      // An abort does not stop the timer; it must not keep the process alive.
      timer = setTimeout(fail, silenceMs).unref();
    },
    transform(bytes, controller) {
      timer?.refresh();
      controller.enqueue(bytes);
    },
    flush() {
      clearTimeout(timer);
    },
  });
}
