@echo off
rem New contracts, every night, on Windows. Task Scheduler:
rem   schtasks /Create /SC DAILY /ST 02:30 /TN "ollama-kit contract" /TR "%USERPROFILE%\contracts\contract.cmd"
setlocal
set PYTHONUTF8=1
if not defined MODEL set MODEL=contract-zh
if not defined CONTRACTS set CONTRACTS=%USERPROFILE%\contracts\in
if not defined OUT set OUT=%USERPROFILE%\contracts\out
if not exist "%CONTRACTS%\" echo "%CONTRACTS%": no such folder>&2& exit /b 2
rem A command line holds 8,191 characters: ollama-kit itself finds the files of a pattern, those in folders below too.
rem Names that begin with ~ are Word's, of documents that are open.
set FILES=
for %%e in (pdf docx html htm md txt) do dir /s /b /a-d "%CONTRACTS%\*.%%e" >nul 2>&1 && call set FILES=%%FILES%% "%%CONTRACTS%%\**\[!~]*.%%e"
if not defined FILES echo "%CONTRACTS%": no contracts& exit /b 0
ollama-kit contract extract --model %MODEL% --out "%OUT%\facts" --format html --format xlsx --format json %FILES%
set CODE=%errorlevel%
if %CODE% gtr 1 exit /b %CODE%
ollama-kit contract summarize --model %MODEL% --out "%OUT%\summaries" %FILES%
if %errorlevel% gtr %CODE% set CODE=%errorlevel%
exit /b %CODE%
