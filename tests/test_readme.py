"""README and DEVELOPERS.md speak of what is there: the folder map is the tree, each ./dev verb exists, links lead somewhere,
what is quoted was measured."""
import re

import tree

findings = []
readme = tree.text("README.md")
folders = {name.split("/")[0] for name in tree.files() if "/" in name} - {".ci"}
mapped = set(re.findall(r"^\| `(\w[\w-]*)/` \|", readme, re.M))
findings += [f"README.md: the folder map lacks {name}/" for name in sorted(folders - mapped)]
findings += [f"README.md: the folder map has {name}/, which is not there" for name in sorted(mapped - folders)]
checked = len(mapped)

# What the README quotes of a measurement is what was measured.
results = tree.text("bench/RESULTS.md").splitlines()
quoted = re.search(r"<!-- \./dev bench writes from here -->\n(.*)<!-- to here -->", readme, re.S)[1].splitlines()
findings += [f"README.md: bench/RESULTS.md does not say this: {line}" for line in quoted if line not in results]
findings += [] if len(quoted) > 4 else ["README.md: it quotes no measurement"]
checked += len(quoted)

verbs = set(re.findall(r"^dev_(\w+)\(\)", tree.text("dev"), re.M))
told = set(re.findall(r"^#   \./dev (\w+)", tree.text("dev"), re.M))
findings += [f"dev: the help lacks {verb}" for verb in sorted(verbs - told)]
findings += [f"dev: the help has {verb}, which is not there" for verb in sorted(told - verbs)]

for name in tree.files("*.md"):
    if name.startswith("docs/protocol/vectors/"):
        continue
    content = tree.text(name)
    for verb in re.findall(r"\./dev ([a-z]+)", content):
        checked += 1
        if verb not in verbs:
            findings.append(f"{name}: there is no ./dev {verb}")
    for link in re.findall(r"\]\(([^)#\s]+)", content):
        checked += 1
        if "://" not in link and not (tree.SOURCE / name).parent.joinpath(link).exists():
            findings.append(f"{name}: the link to {link} leads nowhere")
tree.end(findings, checked)
