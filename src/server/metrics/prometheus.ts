export type Labels = Readonly<Record<string, string | number>>

/** More series than this of one name would be somebody's mistake, or somebody's doing: the rest is not counted. */
const MAX_SERIES = 2000

interface Family {
  readonly help: string
  readonly type: "counter" | "gauge" | "histogram"
  /** Lines as `suffix{labels} value`, without the name. */
  lines(): Iterable<readonly [suffix: string, labels: string, value: number]>
}

/** Numbers for Prometheus, in its text format. By hand, because counting is adding one to a number in a map. */
export class Metrics {
  readonly #families = new Map<string, Family>()

  counter(name: string, help: string): Counter {
    return this.#add(name, new Counter(help, "counter"))
  }

  gauge(name: string, help: string): Counter {
    return this.#add(name, new Counter(help, "gauge"))
  }

  histogram(name: string, help: string, buckets: readonly number[]): Histogram {
    return this.#add(name, new Histogram(help, buckets))
  }

  /** Everything there is, in the text format 0.0.4. */
  text(): string {
    let text = ""
    for (const [name, family] of this.#families) {
      text += `# HELP ${name} ${family.help}\n# TYPE ${name} ${family.type}\n`
      for (const [suffix, labels, value] of family.lines()) {
        text += `${name}${suffix}${labels === "" ? "" : `{${labels}}`} ${value}\n`
      }
    }
    return text
  }

  #add<Kind extends Family>(name: string, family: Kind): Kind {
    this.#families.set(name, family)
    return family
  }
}

export class Counter implements Family {
  readonly help: string
  readonly type: "counter" | "gauge"
  readonly #values = new Map<string, number>()

  constructor(help: string, type: "counter" | "gauge") {
    this.help = help
    this.type = type
  }

  add(by = 1, labels: Labels = {}): void {
    const series = toText(labels)
    const before = this.#values.get(series)
    if (before !== undefined || this.#values.size < MAX_SERIES) this.#values.set(series, (before ?? 0) + by)
  }

  set(value: number, labels: Labels = {}): void {
    this.#values.set(toText(labels), value)
  }

  /** Nothing is known any more. */
  clear(): void {
    this.#values.clear()
  }

  *lines(): Iterable<readonly [string, string, number]> {
    for (const [series, value] of this.#values) yield ["", series, value]
  }
}

export class Histogram implements Family {
  readonly type = "histogram"
  readonly help: string
  readonly #buckets: readonly number[]
  readonly #series = new Map<string, { readonly counts: number[]; sum: number; count: number }>()

  constructor(help: string, buckets: readonly number[]) {
    this.help = help
    this.#buckets = buckets
  }

  observe(value: number, labels: Labels = {}): void {
    const name = toText(labels)
    let series = this.#series.get(name)
    if (!series) {
      if (this.#series.size >= MAX_SERIES) return
      this.#series.set(name, (series = { counts: this.#buckets.map(() => 0), sum: 0, count: 0 }))
    }
    const bucket = this.#buckets.findIndex((most) => value <= most)
    if (bucket >= 0) series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
    series.sum += value
    series.count++
  }

  *lines(): Iterable<readonly [string, string, number]> {
    for (const [labels, { counts, sum, count }] of this.#series) {
      const before = labels === "" ? "" : `${labels},`
      let below = 0
      for (const [index, most] of this.#buckets.entries()) {
        below += counts[index] ?? 0
        yield ["_bucket", `${before}le="${most}"`, below]
      }
      yield ["_bucket", `${before}le="+Inf"`, count]
      yield ["_sum", labels, sum]
      yield ["_count", labels, count]
    }
  }
}

function toText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(String(value))}"`)
    .join(",")
}

const escaped = (value: string) => value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")
