import { escapeHidden } from "../../../client/index.ts"

/** The elements of Vega's SVG. All others are removed: scripts, styles, links, images, animations, HTML. */
const ELEMENTS = new Set([
  ...["svg", "g", "path", "rect", "line", "circle", "text", "tspan", "title", "desc"],
  ...["defs", "clipPath", "linearGradient", "radialGradient", "stop"],
])

const ATTRIBUTES = new Set([
  ...[
    "class",
    "id",
    "role",
    "aria-label",
    "aria-hidden",
    "aria-roledescription",
    "viewBox",
    "version",
    "transform",
    "d",
  ],
  ...["width", "height", "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "cx", "cy", "r", "fx", "fy", "fr", "rx", "ry"],
  ...["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-dashoffset"],
  ...["stroke-linecap", "stroke-linejoin", "stroke-miterlimit", "opacity", "display", "visibility", "pointer-events"],
  ...["font-family", "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline", "letter-spacing"],
  ...[
    "clip-path",
    "clip-rule",
    "fill-rule",
    "offset",
    "stop-color",
    "stop-opacity",
    "gradientUnits",
    "gradientTransform",
  ],
  ...["preserveAspectRatio", "spreadMethod"],
])

const SVG = "http://www.w3.org/2000/svg"
const MAX_ELEMENTS = 60_000

/** Rebuilds an SVG element by element from the allow-lists above, with hidden characters escaped. */
export function cleanSvg(text: string): SVGSVGElement | undefined {
  const { documentElement } = new DOMParser().parseFromString(text, "image/svg+xml")
  if (documentElement.nodeName !== "svg" || documentElement.getElementsByTagName("parsererror").length > 0)
    return undefined
  if (documentElement.getElementsByTagName("*").length > MAX_ELEMENTS) return undefined
  return copy(documentElement) as SVGSVGElement | undefined
}

function copy(element: Element): Element | undefined {
  if (element.namespaceURI !== SVG || !ELEMENTS.has(element.localName)) return undefined
  const made = document.createElementNS(SVG, element.localName)
  for (const { name, value } of element.attributes)
    if (isClean(name, value)) made.setAttribute(name, name === "aria-label" ? escapeHidden(value) : value)
  for (const child of element.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) made.append(escapeHidden(child.nodeValue ?? ""))
    else if (child.nodeType === Node.ELEMENT_NODE) {
      const copied = copy(child as Element)
      if (copied) made.append(copied)
    }
  }
  return made
}

/** A paint may refer only to an element of the same SVG; a backslash could hide a `url`. */
export const isClean = (name: string, value: string): boolean =>
  ATTRIBUTES.has(name) &&
  (name === "aria-label" || !value.includes("\\")) &&
  (!/url\s*\(/i.test(value) || /^url\(#[\w-]+\)$/.test(value))
