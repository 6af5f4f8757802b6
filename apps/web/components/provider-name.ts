const NAMES: ReadonlyMap<string, string> = new Map([
  ["openai", "OpenAI"],
  ["anthropic", "Anthropic"],
  ["google", "Google Gemini"],
  ["azure", "Azure OpenAI"],
  ["bedrock", "Amazon Bedrock"],
  ["vertex", "Google Vertex"],
  ["mistral", "Mistral"],
  ["groq", "Groq"],
  ["xai", "xAI"],
  ["deepseek", "DeepSeek"],
  ["openrouter", "OpenRouter"],
  ["lmstudio", "LM Studio"],
  ["ollama", "Ollama"],
  ["llamacpp", "llama.cpp"],
  ["vllm", "vLLM"],
])

/** The name of a provider for people. An endpoint that a user added has only the name that the user chose. */
export const providerName = (id: string): string => NAMES.get(id) ?? id
