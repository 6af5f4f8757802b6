type Fields = Readonly<Record<string, unknown>>

const VALUE = "value of slice"
const SHARE = "share of slice"
const WORDS = "words of slice"
/** Thinner slices have no room for words; the pointer and the table tell. */
const THINNEST = 0.03
const RADIUS = 110

/**
 * A pie with its values beside its slices. Only of a plain one, whose slices are the values of a column; whatever says more
 * of itself is left as it is.
 */
export function withPieValues(spec: Fields): Fields {
  const { mark, encoding, transform = [], ...rest } = spec
  const drawn = isFields(mark) ? mark : { type: mark }
  if (drawn.type !== "arc" || !isFields(encoding) || !Array.isArray(transform)) return spec
  const { theta, color, ...more } = encoding
  if (
    !isFields(theta) ||
    !isPlain(color) ||
    Object.keys(more).some((channel) => channel !== "tooltip" && channel !== "order")
  )
    return spec
  const { aggregate = "sum", field } = theta
  if (!(typeof field === "string" || aggregate === "count") || !OPERATIONS.has(String(aggregate))) return spec
  const counted = typeof field === "string" ? { field } : {}
  const title = theta.title ?? (typeof field === "string" ? field : "count")
  return {
    ...rest,
    height: rest.height ?? 2 * RADIUS + 130,
    transform: [
      ...(transform as unknown[]),
      { aggregate: [{ op: aggregate, ...counted, as: VALUE }], groupby: [color.field] },
      { joinaggregate: [{ op: "sum", field: VALUE, as: SHARE }] },
      { calculate: `datum['${VALUE}'] / datum['${SHARE}']`, as: SHARE },
      { calculate: `datum['${SHARE}'] < ${THINNEST} ? '' : ${TOLD}`, as: WORDS },
    ],
    encoding: {
      theta: { field: VALUE, type: "quantitative", stack: true, title },
      // Slices and words in one order, so that they meet.
      order: { field: VALUE, type: "quantitative", sort: "descending", title },
    },
    layer: [
      {
        mark: { ...drawn, outerRadius: RADIUS, ...(drawn.innerRadius ? { innerRadius: RADIUS * 0.55 } : {}) },
        encoding: { color },
      },
      {
        mark: { type: "text", radius: RADIUS + 46, fontSize: 11, aria: false },
        encoding: { text: { field: WORDS, type: "nominal" }, detail: { field: color.field, type: "nominal" } },
      },
    ],
  }
}

const TOLD = `format(datum['${VALUE}'], ',~f') + ' (' + format(datum['${SHARE}'], '.0%') + ')'`
const OPERATIONS = new Set(["sum", "count", "mean", "average", "median", "min", "max", "distinct"])

const isPlain = (color: unknown): color is Fields & { field: string } =>
  isFields(color) &&
  typeof color.field === "string" &&
  !color.bin &&
  !color.timeUnit &&
  !color.aggregate &&
  !color.condition

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)
