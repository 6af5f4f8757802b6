/**
 * Runs before Vega is loaded. Vega measures text with a canvas of the document; a worker has none, and the estimated
 * widths would cut labels. Vega asks once, so the stub is removed again.
 */
const scope = globalThis as { document?: unknown }
if (typeof OffscreenCanvas === "function") scope.document = { createElement: () => new OffscreenCanvas(1, 1) }

export const measured = (): void => {
  delete scope.document
}
