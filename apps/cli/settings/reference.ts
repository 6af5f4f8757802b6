import type { Setting, SettingTable } from "./setting.ts"
import { settingSections } from "./table.ts"

const FOREWORD = `# Settings

Environment variables configure Pawl. This page lists all of them; \`pawl help settings\` prints the same list. An empty value
counts as not set. An invalid value stops the start with an error, and an unknown name that starts with \`PAWL_\` prints a warning.
`

/** Generates docs/reference/settings.md from the table that also validates. */
export function settingsPage(): string {
  const sections = Object.entries<SettingTable>(settingSections).map(([title, settings]) => {
    const rows = Object.entries(settings).map(([name, setting]) => {
      const also = setting.also ? `<br>or \`${setting.also}\`` : ""
      return `| \`${name}\`${also} | ${sentence(setting)} | ${cell(setting.kind.allowed)} | ${cell(withoutIt(setting))} |`
    })
    return [
      `\n## ${title}\n`,
      "| variable | what it does | allowed values | default |",
      "|---|---|---|---|",
      ...rows,
    ].join("\n")
  })
  return `${FOREWORD}${sections.join("\n")}\n`
}

/** Generates the list for the terminal. */
export function settingsHelp(): string {
  const sections = Object.entries<SettingTable>(settingSections).map(([title, settings]) => {
    const lines = Object.entries(settings).map(([name, setting]) => {
      const words = `${sentence(setting)} Allowed: ${setting.kind.allowed}. Default: ${withoutIt(setting)}.`
      return `  ${name}\n      ${words.replaceAll("`", "")}`
    })
    return `${title}\n\n${lines.join("\n")}`
  })
  return `Environment variables that configure Pawl.\n\n${sections.join("\n\n")}\n`
}

const sentence = ({ says, secretsIn }: Setting<unknown>): string => (secretsIn ? `${says} Never printed.` : says)

function withoutIt({ usually, usuallyInWords }: Setting<unknown>): string {
  if (usuallyInWords !== undefined) return usuallyInWords
  if (usually === undefined || (Array.isArray(usually) && usually.length === 0)) return "none"
  return `\`${typeof usually === "boolean" ? (usually ? "on" : "off") : String(usually)}\``
}

const cell = (text: string) => text.replaceAll("|", "\\|")
