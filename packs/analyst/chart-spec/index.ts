/** Creates the default chart of a result by rules, without a model. Runs in browsers. */
export { type ChartColumn, type ChartData, toChartData } from "./chart-rows.ts"
export { defaultChart } from "./default-chart.ts"
export { isName } from "./is-name.ts"
export { chartedColumns, automaticChart } from "./automatic-chart.ts"
