/**
 * Before Vega is loaded: it measures text with a canvas, which it asks a document for. A worker has none, and the widths it
 * would guess instead cut labels short. It asks once, so this goes away again.
 */
const scope = globalThis as { document?: unknown }
if (typeof OffscreenCanvas === "function") scope.document = { createElement: () => new OffscreenCanvas(1, 1) }

export const measured = (): void => {
  delete scope.document
}
