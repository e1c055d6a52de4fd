// SPDX-License-Identifier: Apache-2.0
#pragma once
// The style sheet of evidence documents and reports of acceptance. Its colours are those of the page
// (dashboards/web/src/style.css); paper is always light.

namespace weft::api {

inline constexpr const char* kEvidenceStyle = R"(
:root{color-scheme:light dark;--ground:#fff;--text:#18222d;--muted:#526070;--line:#d3d9e0;--critical:#b3152a;--good:#1d6b3c;
--warning:#8a4b00;--info:#2c5c8a;--gap:#dfe4e9;--events:#a50f3c;--traffic:#0b5394;--gauge:#1d6b3c;--plan:#8b2fa0;
--maintenance:#526070}
@media screen and (prefers-color-scheme:dark){:root{--ground:#0d1217;--text:#dfe6ed;--muted:#9aa8b6;--line:#2b3642;
--critical:#ff7d8c;--good:#74cf96;--warning:#f3ae55;--info:#8fbfe8;--gap:#2a343f;--events:#ff7d8c;--traffic:#86bdf5;--gauge:#74cf96;
--plan:#d59bea;--maintenance:#9aa8b6}}
body{margin:0;background:var(--ground);color:var(--text);
font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:62em;margin:0 auto;padding:1.5em}
h1{font-size:1.6em;margin:0}h1 span{font-weight:400}
h2{font-size:1.15em;margin:1.8em 0 .4em;border-bottom:2px solid var(--line)}h3{font-size:1em;margin:1.2em 0 .3em}
p{margin:.4em 0}.summary{font-size:1.1em;font-weight:600}.muted{color:var(--muted)}
a{color:var(--traffic)}code{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.92em;overflow-wrap:break-word}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;margin:.3em 0 .8em}
th,td{text-align:left;vertical-align:top;padding:.25em .8em .25em 0;border-bottom:1px solid var(--line);
overflow-wrap:break-word}
th{font-weight:600;color:var(--muted)}td.number{font-variant-numeric:tabular-nums}
.CRITICAL,.FAIL{color:var(--critical)}.WARNING,.NOT_YET,.INCOMPLETE{color:var(--warning)}.INFO{color:var(--info)}
.PASS{color:var(--good)}.NOT_MEASURED{color:var(--muted)}.whole{white-space:nowrap}
figure{margin:.6em 0 1em}figcaption{margin-bottom:.1em}svg{display:block;width:100%;height:auto}
svg text{font-size:10px;fill:var(--muted)}.grid{stroke:var(--line);stroke-width:1;fill:none}
.bars.events{fill:var(--events)}.bars.traffic{fill:var(--traffic)}.bars.gauge{fill:var(--gauge)}
rect.gap{fill:var(--gap)}.shade{opacity:.12}
rect.critical{fill:var(--critical)}rect.warning{fill:var(--warning)}rect.info{fill:var(--info)}
rect.plan{fill:var(--plan)}rect.maintenance{fill:var(--maintenance)}
.legend span{white-space:nowrap;margin-left:.8em}.legend i{display:inline-block;width:1.1em;height:.7em;margin-right:.3em}
i.gap{background:var(--gap)}i.critical{background:var(--critical)}i.warning{background:var(--warning)}
i.info{background:var(--info)}i.plan{background:var(--plan)}i.maintenance{background:var(--maintenance)}
@media print{:root{color-scheme:light}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
main{max-width:none;padding:0}body{font-size:10pt}.scroll{overflow:visible}
figure,tr{break-inside:avoid}h2,h3{break-after:avoid}a{color:inherit;text-decoration:none}}
@page{margin:15mm}
)";

}  // namespace weft::api
