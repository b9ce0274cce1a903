//! Providers, by the wire formats that they speak.

use std::fmt;
use std::str::FromStr;

use genai::adapter::AdapterKind;

use crate::ConfigError;

/// The provider of a model, which decides the wire format.
///
/// The conformance suite holds [`ANTHROPIC`](Self::ANTHROPIC), [`GEMINI`](Self::GEMINI) and
/// [`RESPONSES`](Self::RESPONSES). Further names are those of genai, such as `bedrock_api`, `vertex`, `ollama` and
/// `cohere`; no test covers them.
///
/// ```
/// use runstate_genai::Provider;
///
/// let provider: Provider = "anthropic".parse()?;
/// assert_eq!(provider, Provider::ANTHROPIC);
/// assert_eq!("openai_resp".parse::<Provider>()?, Provider::RESPONSES);
/// let error = "antropic".parse::<Provider>().unwrap_err();
/// assert!(error.to_string().starts_with("\"antropic\" is no provider"), "{error}");
/// # Ok::<(), runstate_genai::ConfigError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Provider(AdapterKind);

impl Provider {
    /// Anthropic's Messages.
    pub const ANTHROPIC: Provider = Provider(AdapterKind::Anthropic);
    /// Gemini's `streamGenerateContent`.
    pub const GEMINI: Provider = Provider(AdapterKind::Gemini);
    /// OpenAI's Responses, without storage at the server.
    pub const RESPONSES: Provider = Provider(AdapterKind::OpenAIResp);

    /// Returns the name: `anthropic`, `gemini`, `responses`, or genai's.
    pub fn name(&self) -> &'static str {
        match self.0 {
            AdapterKind::OpenAIResp => "responses",
            other => other.as_lower_str(),
        }
    }

    pub(crate) fn kind(self) -> AdapterKind {
        self.0
    }

    /// Returns the tools of the provider that genai puts in the place of a tool with their name.
    pub(crate) fn own_tools(self) -> &'static [&'static str] {
        match self {
            Provider::GEMINI => &["googleSearch", "googleSearchRetrieval", "codeExecution", "urlContext"],
            _ => &["web_search"],
        }
    }
}

impl FromStr for Provider {
    type Err = ConfigError;

    /// # Errors
    /// [`ConfigError::Provider`] if genai has no provider of that name.
    fn from_str(name: &str) -> Result<Self, ConfigError> {
        let kind = match name {
            "responses" => Some(AdapterKind::OpenAIResp),
            name => AdapterKind::from_lower_str(name),
        };
        kind.map(Provider).ok_or_else(|| ConfigError::Provider { got: name.to_owned() })
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Provider({})", self.name())
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
