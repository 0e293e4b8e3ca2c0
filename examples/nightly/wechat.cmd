@echo off
rem Yesterday's chats, every night, on Windows. Task Scheduler:
rem   schtasks /Create /SC DAILY /ST 06:30 /TN "ollama-kit wechat" /TR "%USERPROFILE%\wechat\wechat.cmd"
setlocal
set PYTHONUTF8=1
if not defined MODEL set MODEL=wechat-zh
if not defined CHATS set CHATS=%USERPROFILE%\wechat\exports
if not defined OUT set OUT=%USERPROFILE%\wechat\summaries
set FILES=
for %%f in ("%CHATS%\*.csv" "%CHATS%\*.json" "%CHATS%\*.txt") do call set FILES=%%FILES%% "%%~f"
ollama-kit wechat summarize --model %MODEL% --since yesterday --until yesterday --out "%OUT%" %FILES%
