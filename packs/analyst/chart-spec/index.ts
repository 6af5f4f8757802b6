/** What a result looks like as a chart, by rule and without a model. Runs in browsers. */
export { type ChartColumn, type ChartData, toChartData } from "./chart-rows.ts"
export { defaultChart } from "./default-chart.ts"
export { isName } from "./is-name.ts"
export { chartedColumns, chartWorthSeeing } from "./worth-seeing.ts"
