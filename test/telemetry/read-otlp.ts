/** The content of a batch of spans, in either form of OTLP. Parsed by hand, because the official library wrote it and must not verify itself. */
export interface ReceivedTraces {
  readonly resource: Readonly<Record<string, unknown>>
  readonly spans: readonly ReceivedSpan[]
}

export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | undefined
  readonly name: string
  readonly kind: number
  /** Milliseconds. */
  readonly from: number
  readonly to: number
  readonly attributes: Readonly<Record<string, unknown>>
  readonly isError: boolean
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly events: readonly string[]
}

// oxlint-disable typescript/no-explicit-any -- foreign JSON
export function readJson(body: Buffer): ReceivedTraces {
  const [{ resource, scopeSpans }] = JSON.parse(body.toString()).resourceSpans
  const spans = scopeSpans.flatMap(({ spans: all }: any) => all)
  return { resource: attributesOf(resource.attributes), spans: spans.map(toSpan) }
}

function toSpan(span: any): ReceivedSpan {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentId: span.parentSpanId || undefined,
    name: span.name,
    kind: span.kind,
    from: Number(BigInt(span.startTimeUnixNano) / 1000n) / 1000,
    to: Number(BigInt(span.endTimeUnixNano) / 1000n) / 1000,
    attributes: attributesOf(span.attributes),
    isError: span.status?.code === 2,
    links: (span.links ?? []).map(({ traceId, spanId }: any) => ({ traceId, spanId })),
    events: (span.events ?? []).map(({ name }: any) => name),
  }
}

const attributesOf = (pairs: any[] = []): Record<string, unknown> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, toValue(value)]))

function toValue(value: any): unknown {
  if (value.arrayValue) return value.arrayValue.values.map(toValue)
  if (value.intValue !== undefined) return Number(value.intValue)
  return value.stringValue ?? value.boolValue ?? value.doubleValue
}

/** The fields of one protobuf message, by number. */
function fieldsOf(bytes: Buffer): Map<number, (Buffer | bigint)[]> {
  const fields = new Map<number, (Buffer | bigint)[]>()
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++] as number
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const [number, wire] = [tag >> 3, tag & 7]
    let value: Buffer | bigint
    if (wire === 0) value = varint()
    else {
      const length = wire === 1 ? 8 : wire === 5 ? 4 : Number(varint())
      value = bytes.subarray(at, (at += length))
    }
    fields.set(number, [...(fields.get(number) ?? []), value])
  }
  return fields
}

const all = (fields: ReturnType<typeof fieldsOf>, number: number): Buffer[] => (fields.get(number) ?? []) as Buffer[]
const text = (fields: ReturnType<typeof fieldsOf>, number: number): string => all(fields, number)[0]?.toString() ?? ""
const hex = (fields: ReturnType<typeof fieldsOf>, number: number): string =>
  all(fields, number)[0]?.toString("hex") ?? ""
const whole = (fields: ReturnType<typeof fieldsOf>, number: number): number => Number(fields.get(number)?.[0] ?? 0)

/** The fields as numbered in the files of opentelemetry-proto. */
export function readProtobuf(body: Buffer): ReceivedTraces {
  const [resourceSpans] = all(fieldsOf(body), 1).map(fieldsOf)
  if (!resourceSpans) throw new Error("A batch without spans.")
  const [resource] = all(resourceSpans, 1).map(fieldsOf)
  const spans = all(resourceSpans, 2).flatMap((scope) => all(fieldsOf(scope), 2))
  return { resource: pairsOf(resource ? all(resource, 1) : []), spans: spans.map((span) => toSpanOf(fieldsOf(span))) }
}

function toSpanOf(span: ReturnType<typeof fieldsOf>): ReceivedSpan {
  const time = (number: number) => Number((all(span, number)[0] as Buffer).readBigUInt64LE() / 1000n) / 1000
  const [status] = all(span, 15).map(fieldsOf)
  return {
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    parentId: hex(span, 4) || undefined,
    name: text(span, 5),
    kind: whole(span, 6),
    from: time(7),
    to: time(8),
    attributes: pairsOf(all(span, 9)),
    isError: status !== undefined && whole(status, 3) === 2,
    links: all(span, 13).map((link) => ({ traceId: hex(fieldsOf(link), 1), spanId: hex(fieldsOf(link), 2) })),
    events: all(span, 11).map((event) => text(fieldsOf(event), 2)),
  }
}

const pairsOf = (pairs: readonly Buffer[]): Record<string, unknown> =>
  Object.fromEntries(pairs.map((pair) => [text(fieldsOf(pair), 1), valueOf(all(fieldsOf(pair), 2)[0] as Buffer)]))

function valueOf(bytes: Buffer): unknown {
  const value = fieldsOf(bytes)
  if (value.has(1)) return text(value, 1)
  if (value.has(2)) return whole(value, 2) === 1
  if (value.has(3)) return whole(value, 3)
  if (value.has(4)) return (all(value, 4)[0] as Buffer).readDoubleLE()
  return all(fieldsOf(all(value, 5)[0] as Buffer), 1).map(valueOf)
}
