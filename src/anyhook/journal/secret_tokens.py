"""Secret tokens: how the tokens of providers begin, as their documents say. A table and nothing else."""

from __future__ import annotations

TOKENS = (
    # models
    ("sk-", 20), ("gsk_", 20), ("xai-", 20), ("pplx-", 20), ("hf_", 20), ("r8_", 30), ("nvapi-", 40), ("tvly-", 20),
    # code and packages
    ("ghp_", 20), ("gho_", 20), ("ghu_", 20), ("ghs_", 20), ("ghr_", 20), ("github_pat_", 20), ("glpat-", 16),
    ("gldt-", 16),
    ("glrt-", 16), ("glptt-", 20), ("glft-", 16), ("glsoat-", 16), ("glcbt-", 16), ("gloas-", 30), ("glimt-", 16),
    ("glagent-", 20), ("glffct-", 16), ("ATBB", 28), ("ATATT3", 20), ("ATCTT3", 20), ("npm_", 30), ("pypi-", 30),
    ("rubygems_", 40), ("CLOJARS_", 50), ("dckr_pat_", 20), ("dckr_oat_", 20), ("sgp_", 40), ("bkua_", 30), ("AKCp",
    60),
    # clouds
    ("AKIA", 16), ("ASIA", 16), ("ABIA", 16), ("ACCA", 16), ("ABSK", 60), ("LTAI", 16), ("AIza", 30), ("ya29.", 20),
    ("GOCSPX-", 20), ("dop_v1_", 30), ("doo_v1_", 30), ("dor_v1_", 30), ("HRKU-", 30), ("fo1_", 40), ("pul-", 40),
    ("sbp_", 40),
    ("sb_secret_", 20), ("tskey-", 16), ("vcp_", 20), ("vercel_blob_rw_", 20), ("pscale_tkn_", 30), ("pscale_pw_", 30),
    ("v1.0-", 70), ("EAACEdEose0cBA", 20),
    # vaults
    ("hvs.", 20), ("hvb.", 30), ("hvr.", 20), ("dp.pt.", 30), ("dp.st.", 30), ("dp.ct.", 30), ("dp.sa.", 30),
    ("dp.scim.", 30),
    ("dp.audit.", 30), ("ops_eyJ", 60), ("AGE-SECRET-KEY-1", 20), ("atlasv1.", 50),
    # chats, mail, money, work
    ("xoxb-", 15), ("xoxp-", 15), ("xoxa-", 15), ("xoxr-", 15), ("xoxs-", 15), ("xoxc-", 15), ("xoxd-", 15), ("xoxe.",
    20),
    ("xoxe-", 20), ("xapp-", 15), ("xwfp-", 15), ("SG.", 30), ("xkeysib-", 60), ("xsmtpsib-", 60), ("sk_live_", 16),
    ("sk_test_", 16), ("rk_live_", 16), ("rk_test_", 16), ("pk_live_", 16), ("whsec_", 16), ("sq0atp-", 20),
    ("sq0csp-", 30),
    ("EAAA", 50), ("shpat_", 20), ("shpss_", 20), ("shpca_", 20), ("shppa_", 20), ("FLWSECK-", 20), ("FLWSECK_TEST-",
    20),
    ("duffel_live_", 30), ("duffel_test_", 30), ("EZAK", 50), ("lin_api_", 20), ("lin_oauth_", 20), ("ntn_", 30),
    ("secret_", 40), ("figd_", 30), ("PMAK-", 40), ("tfp_", 40), ("rdme_", 60),
    # watching
    ("sntrys_", 20), ("sntryu_", 40), ("NRAK-", 20), ("NRII-", 20), ("NRAA-", 20), ("NRSP-", 20), ("glsa_", 30),
    ("glc_", 30),
    ("dt0c01.", 60), ("dt0s01.", 60), ("phx_", 30),
    # of no provider
    ("eyJ", 30),
)  # fmt: skip
"""How known tokens begin, and how many letters must follow at least."""
HEX_TOKENS = (("SK", 32), ("dapi", 32), ("key-", 32))
"""The same of tokens that go on with exactly this many hexadecimal digits."""
SCHEMES = ("bearer ", "basic ")
PEM, PEM_KIND = "-----BEGIN ", "PRIVATE KEY"
HOOKS = (
    "hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/", "/api/webhooks/",
    "/webhookb2/",
    "outlook.office.com/webhook/", "hooks.zapier.com/hooks/", "maker.ifttt.com/", "api.telegram.org/bot",
    "/open-apis/bot/v2/hook/", "://hook.",
)  # fmt: skip
"""Addresses that are secrets from here on: who has them may write there."""
QUERY = ("sig", "key", "signature", "session", "sid", "sessionid", "phpsessid", "jsessionid", "hmac")
"""Names in addresses and cookies whose values are secrets if they look random: elsewhere these are ordinary words."""
