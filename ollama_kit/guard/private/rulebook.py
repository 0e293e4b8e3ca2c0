"""What is looked for: every rule with its kind and severity, and the sets of kinds that policies name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ollama_kit.records.report import Severity

SECRETS = frozenset({"api_key", "private_key", "password"})
"""What gives access. Redacted by the policy `standard`."""

PERSONAL = frozenset(
    {
        *("phone", "id_card", "bank_account", "iban", "credit_code", "passport", "plate"),
        *("email", "ip", "mac", "wechat", "qq", "name", "address", "birthday"),
    }
)
"""What identifies a person. Flagged by `standard`, since it is what the jobs extract; redacted by `strict`."""

KINDS = SECRETS | PERSONAL


class Hit(NamedTuple):
    """`rule` matched at `start`:`end`, in characters of the text searched."""

    start: int
    end: int
    rule: str


@dataclass(frozen=True)
class PrivateKind:
    """How serious a find is, and how much of it a report may show: `head` characters in front, `tail` behind."""

    severity: Severity
    head: int = 0
    tail: int = 0


OF_KIND: dict[str, PrivateKind] = {
    "api_key": PrivateKind("high", head=4),
    "private_key": PrivateKind("high"),
    "password": PrivateKind("high"),
    "id_card": PrivateKind("medium", head=3, tail=4),
    "bank_account": PrivateKind("medium", tail=4),
    "iban": PrivateKind("medium", head=2, tail=4),
    "passport": PrivateKind("medium", head=1, tail=3),
    "phone": PrivateKind("low", head=3, tail=4),
    "plate": PrivateKind("low", head=2, tail=1),
    "email": PrivateKind("low", head=1),
    "credit_code": PrivateKind("low", head=2, tail=4),
    "ip": PrivateKind("low", head=3),
    "mac": PrivateKind("low", head=2),
    "wechat": PrivateKind("low", head=2),
    "qq": PrivateKind("low", head=2),
    "name": PrivateKind("low", head=1),
    "address": PrivateKind("low", head=2),
    "birthday": PrivateKind("low"),
}

_ALNUM, _WORD, _HEX = "[A-Za-z0-9]", "[A-Za-z0-9_-]", "[0-9a-f]"
_UUID = f"{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}"

TOKENS: dict[str, str] = {
    "anthropic_key": f"sk-ant-{_WORD}{{20,250}}",
    "openai_key": f"sk-(?:proj|svcacct|admin|None)-{_WORD}{{20,250}}",
    "openrouter_key": f"sk-or-v1-{_HEX}{{32,80}}",
    "stripe_key": f"[sr]k_(?:live|test)_{_ALNUM}{{16,250}}|whsec_{_ALNUM}{{32,64}}",
    "sk_key": f"sk-{_WORD}{{20,250}}",  # DeepSeek, Moonshot, Qwen, older OpenAI: no more than the beginning in common
    "github_token": "gh[pousr]_[A-Za-z0-9_]{36,255}|github_pat_[A-Za-z0-9_]{22,255}",
    "gitlab_token": f"(?:gl(?:pat|dt|rt|ptt|cbt|ft|soat|oas|imt|agent)-|GR1348941){_WORD}{{20,1024}}",
    "aws_key_id": "(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}",
    "google_key": f"AIza{_WORD}{{35}}|GOCSPX-{_WORD}{{28}}",
    "slack_token": "xox[abeoprs]-[A-Za-z0-9-]{10,250}|xapp-[0-9]-[A-Za-z0-9-]{20,250}",
    "huggingface_token": f"hf_{_ALNUM}{{30,64}}",
    "aliyun_key_id": f"LTAI{_ALNUM}{{12,30}}",
    "tencent_key_id": f"AKID{_ALNUM}{{13,40}}",
    "volcengine_key_id": f"AKLT{_ALNUM}{{30,64}}={{0,2}}",
    "zhipu_key": f"{_HEX}{{32}}\\.{_ALNUM}{{16}}",
    "jwt": f"eyJ{_WORD}{{11,4096}}\\.eyJ{_WORD}{{8,8192}}\\.{_WORD}{{0,2048}}",
    "npm_token": f"npm_{_ALNUM}{{36}}",
    "pypi_token": f"pypi-{_WORD}{{50,250}}",
    "mailchimp_key": "[0-9a-z]{32}-us[0-9]{1,2}",
    "twilio_key": f"(?:SK|AC){_HEX}{{32}}",
    "square_token": f"sq0(?:csp|atp|idp)-{_WORD}{{22,43}}",
    "digitalocean_token": f"do[opr]_v1_{_HEX}{{64}}",
    "shopify_token": "shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}",
    "docker_token": f"dckr_[po]at_{_WORD}{{20,64}}",
    "databricks_token": f"dapi{_HEX}{{32}}",
    "grafana_token": f"gl(?:sa|c)_{_ALNUM}{{20,250}}(?:_{_HEX}{{8}})?",
    "discord_token": f"[MNO]{_WORD}{{23,27}}\\.{_WORD}{{6}}\\.{_WORD}{{27,40}}",
    "groq_key": f"gsk_{_ALNUM}{{40,64}}",
    "xai_key": f"xai-{_ALNUM}{{60,100}}",
    "replicate_token": f"r8_{_ALNUM}{{36,40}}",
    "perplexity_key": f"pplx-{_ALNUM}{{32,64}}",
    "notion_token": f"ntn_{_ALNUM}{{40,60}}|secret_{_ALNUM}{{43}}",
    "tavily_key": f"tvly-{_WORD}{{20,64}}",
    "wecom_webhook": f"(?<=qyapi\\.weixin\\.qq\\.com/cgi-bin/webhook/send\\?key=){_UUID}",
    "feishu_webhook": f"(?<=/open-apis/bot/v2/hook/){_UUID}",
    "dingtalk_webhook": f"(?<=oapi\\.dingtalk\\.com/robot/send\\?access_token=){_HEX}{{64}}",
}
"""Keys that vendors mark themselves: rule → what the key looks like, the particular before the general. Each part is
bounded, so that one place in a text costs a bounded number of steps; each begins with a word of at least
SHORTEST_WORD letters, digits, dashes and underscores."""

SHORTEST_WORD = 14

ANCHORED: dict[str, tuple[str, int, str]] = {
    "google_oauth_token": ("ya29.", 0, f"ya29\\.{_WORD}{{20,250}}"),
    "sendgrid_key": ("SG.", 0, f"SG\\.{_WORD}{{22}}\\.{_WORD}{{43}}"),
    "vault_token": ("hvs.", 0, f"hvs\\.{_WORD}{{24,250}}"),
    "baidu_key": ("bce-v3/", 0, f"bce-v3/ALTAK-{_ALNUM}{{10,40}}/{_ALNUM}{{30,64}}"),
    "slack_webhook": (
        "hooks.slack.com/services/",
        0,
        f"hooks\\.slack\\.com/services/T{_ALNUM}{{6,14}}/B{_ALNUM}{{6,14}}/{_ALNUM}{{16,40}}",
    ),
    "telegram_bot_token": (":AA", 10, f"[0-9]{{8,10}}:AA{_WORD}{{33}}"),
}
"""Keys that begin with a shorter word: rule → a text that is in each of them, how many characters may precede
it, and what the key looks like."""

RULES: dict[str, str] = {
    **dict.fromkeys((*TOKENS, *ANCHORED), "api_key"),
    "bearer_token": "api_key",
    "labeled_secret": "api_key",
    "private_key_block": "private_key",
    "url_password": "password",
    "labeled_password": "password",
    "continued_password": "password",
    "mobile": "phone",
    "landline": "phone",
    "hotline": "phone",
    "international_phone": "phone",
    "id_card_18": "id_card",
    "id_card_15": "id_card",
    "bank_card": "bank_account",
    "bank_account": "bank_account",
    "iban": "iban",
    "credit_code": "credit_code",
    "passport": "passport",
    "plate": "plate",
    "email": "email",
    "ipv4": "ip",
    "ipv6": "ip",
    "mac": "mac",
    "name_with_title": "name",
    "labeled_name": "name",
    "speaker": "name",
    "wechat_id": "wechat",
    "qq_number": "qq",
    "chinese_address": "address",
    "english_address": "address",
    "labeled_address": "address",
    "birthday": "birthday",
}
"""Every rule of a finder and its kind. Redaction adds `repeated_secret` and `placeholder_look_alike`."""


def masked(kind: str, value: str) -> str:
    """`value` with its middle hidden, for reports; wholly hidden where what is left would give too much away.

    >>> masked("phone", "13812341234")
    '138****1234'
    """
    visible = OF_KIND[kind]
    if kind == "name":
        return value[:1] + "*" * min(len(value) - 1, 3)
    if len(value) < visible.head + visible.tail + 4:
        return "****"
    return value[: visible.head] + "****" + value[len(value) - visible.tail :]
