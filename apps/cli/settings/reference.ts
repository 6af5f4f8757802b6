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

const sentence = ({ description, secretsIn }: Setting<unknown>): string =>
  secretsIn ? `${description} Never printed.` : description

function withoutIt({ defaultValue, defaultText }: Setting<unknown>): string {
  if (defaultText !== undefined) return defaultText
  if (defaultValue === undefined || (Array.isArray(defaultValue) && defaultValue.length === 0)) return "none"
  return `\`${typeof defaultValue === "boolean" ? (defaultValue ? "on" : "off") : String(defaultValue)}\``
}

const cell = (text: string) => text.replaceAll("|", "\\|")
