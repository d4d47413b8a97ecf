"""Hostile names and texts. Every one that a shell, TeX, a browser or a path could act upon would
leave a file: CANARY in the working directory, or one in the folder that is given here."""

CANARY = "canary"


def paths(outside):
    """200 names and paths: out of the folder, cut, confused or too long."""
    found = ["", " ", ".", "..", "...", "/", "//", "./.", "../", "/..", "~", "~root", "~/x", "-", "--",
             "-x", "--help", "--version", "--to", "-rf", "@", "=", "=x", "+x", "~x", "x=", "x=y", "*",
             "?", "[a-z]", "{a,b}", "a b", " a", "a ", "\t", "a\tb", "\n", "a\nb", "a\n", "\na", "\r",
             "a\rb", "a\r\nb", "\x1b[2J", "\x1b]0;x\x07", "\x7f", "\x01", "a\x08b", "\\", "a\\b", "\\\\host\\c",
             "..\\..\\x", "C:\\x", "C:x", "CON", "NUL", "aux.yaml", "COM1", "x.", "x ", "x:y", "a|b",
             "a<b", "a>b", "a\"b", "a'b", "a`b", "%00", "%2e%2e%2f", "..%2f..%2fx", "%n", "%s%s%s", "%A",
             "file:///etc/passwd", "http://localhost/x", "\\x00", "${PWD}", "$HOME", "${oc.env:HOME}",
             "\u2024\u2024/x", "\uff0e\uff0e/x", "\u2025/x", "..\u2215x", "\u2044x", "\uff0fx", "\u202egnp.x",
             "\u200bx", "\ufeffx", "e\u0301", "\u00e9", "\u0430dmin", "\U0001f4a5", "\u0130",
             "\u1e9e", "runs", "index.html", "README.md", "plan.json", "claims", "figures",
             ".git", ".hidden", "..hidden", "x..", "x/..", "x/../y", "a/b", "a/./b", "a//b", "a/b/",
             "experiments/tiny", "tiny/", "/tiny", "tiny.yaml", "../experiments/tiny", "tiny\u200b",
             "config", "experiment/tiny", "TINY", "/dev/null", "/dev/full", "/proc/self/environ",
             "/proc/self/fd/0", "/dev/stdin"]
    for depth in range(1, 9):
        found += ["../" * depth + "escaped", "x/" + "../" * (depth + 1) + "escaped",
                  "./" + "../" * depth + "outside/bait"]
    for name in ("bait", "new", "folder", "folder/new", "evil", "evil/default"):
        found += [f"{outside}/{name}", f"/{outside}/{name}", f"//{outside}/{name}", f"x/{outside}/{name}",
                  f"{outside}/./{name}", f"{outside}/../outside/{name}"]
    for length in (100, 200, 201, 249, 250, 255, 256, 300, 1000, 4095, 4096, 5000, 20000):
        found.append("a" * length)
    found += ["\u00e9" * 128, "/".join("a" * 100 for _ in range(45)), "a/" * 2000, "../" * 1500, "\n" * 300]
    return different(found, 200)


def shells(folder):
    """500 texts that something between the user and the file might take for a program."""
    file = f"{folder}/shell"
    acts = [f"touch {CANARY}", f"touch {file}", f">{CANARY}", f">{file}", f"touch${{IFS}}{CANARY}",
            f"{{touch,{CANARY}}}", f"eval touch {CANARY}", f"python3 -c 'open(\"{CANARY}\",\"w\")'"]
    frames = ["$({})", "`{}`", ";{};", "; {} #", "|{}", "||{}||", "&&{}", "& {} &", "\n{}\n", "\r\n{}\r\n",
              "';{};'", "\";{};\"", "'$({})'", "\"$({})\"", "\"`{}`\"", "';{} #", "\");{};(\"", "$(({}))",
              "<({})", ">({})", "$'\\n'{}", "\\\n{}", "}};{};{{", ") ; {} ; (", "x=$({})", "--x=$({})",
              "a$({})b", "a;{};b", "\\$({})", "\\\\$({})", "\\;{}", "'\\'';{};'\\''", "${{x:-$({})}}",
              "${{x:=`{}`}}", "!{}", "|| {}\n", "& {}\n", "\n#SBATCH --wrap='{}'\n", "#SBATCH --prolog={}",
              "\n#SBATCH --output={}\n", "%A_%a;{}", "%s;{}", "\t{}\t", "--wrap={}", "-c {}",
              "*;{}", "?`{}`", "[x]$({})", "~$({})", "=1;{}", "(){{ :;}}; {}"]
    found = [frame.format(act) for act in acts for frame in frames]
    script = f"open('{file}','w')"
    found += [f"__import__('os').system('touch {CANARY}')", f"!!python/object/apply:os.system ['touch {CANARY}']",
              f"!!python/name:{script}", "{{7*7}}", f"{{{{{script}}}}}", f"${{{script}}}", "${oc.env:HOME}",
              "${x}", "\\${x}", "${", "${now:%Y}", "$((1/0))", "%n%n%n%n", "%s" * 50, "%999999d", "%A%a%j", "{0.__class__}",
              f"<script>fetch('/{CANARY}')</script>", "</script><script>alert(1)</script>", "</title><script>1</script>",
              "<img src=x onerror=alert(1)>", "\"><img src=x onerror=alert(1)>", "'><svg onload=alert(1)>",
              "<!--", "-->", "<![CDATA[", "</style><script>1</script>", "&lt;script&gt;", "&#60;script&#62;",
              "javascript:alert(1)", "data:text/html,<script>1</script>", "\" onmouseover=\"alert(1)",
              "\u2028alert(1)", "\n\n<script>alert(1)</script>\n\n", "`\n\n<script>alert(1)</script>\n\n`",
              "[x](javascript:alert(1))", "![x](javascript:alert(1))", "](javascript:alert(1)) [", "| a | b |",
              "\\input{|\"touch canary\"}", "\r\\input{|\"touch canary\"}", "\n\\input{|\"touch canary\"}",
              f"\r\\immediate\\write18{{touch {CANARY}}}", f"\\write18{{touch {CANARY}}}", "\\openout5=canary",
              "\f\\openout5=canary", "^^5cinput{canary}", "%\r\\input{canary}", "$<\\input{canary}", "$\u03b1_input",
              "$$\\input{canary}$$", "\\end{tabular}\\input{canary}", "\\catcode`\\%=12", "\\def\\x{\\x}\\x", "}{", "{",
              "=1+1", "=cmd|'/c calc'!A0", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "a,b\",c", "\"", "\"\"", ",\n,",
              "'; DROP TABLE runs; --", "\" OR 1=1 --", f"ATTACH DATABASE '{file}' AS x", "PRAGMA writable_schema=1",
              f"VACUUM INTO '{file}'", f"SELECT writefile('{file}', 'x')", f"SELECT load_extension('{file}')",
              "SELECT readfile('/etc/passwd')", "INSERT INTO runs VALUES(1)", "DELETE FROM runs", "DROP TABLE runs",
              "CREATE TABLE x(y)", "SELECT 1; DROP TABLE runs", f"SELECT 1; ATTACH '{file}' AS x",
              "SELECT cast(x'ff' AS text)", "SELECT x'00'", "SELECT zeroblob(10)", "SELECT char(0)", "PRAGMA database_list",
              "EXPLAIN SELECT 1", "BEGIN", "REINDEX", "ANALYZE", "SELECT 1 -- ;", "SELECT fts3_tokenizer('x')"]
    return different(found, 500)


def different(found, least):
    found = list(dict.fromkeys(found))
    assert len(found) >= least, len(found)
    return found
